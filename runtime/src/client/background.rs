//! Requests in the background, for which no user is asked.
//!
//! A session decides that deep inside of the future of a request, below the handshake and the repetitions that the request may need.
//! A value of the task reaches it there, so that no layer between them has to pass a parameter along.

use std::future::Future;

tokio::task_local! {
    static IN_BACKGROUND: bool;
}

/// Waits for `future`, which sends its requests without an action of the user. No user is asked for the sake of these requests. Those
/// of tasks that it spawns are not affected.
pub fn in_background<F: Future>(future: F) -> impl Future<Output = F::Output> {
    in_background_if(true, future)
}

/// As [`in_background`], if the condition is met.
pub fn in_background_if<F: Future>(condition: bool, future: F) -> impl Future<Output = F::Output> {
    IN_BACKGROUND.scope(condition || is_in_background(), future)
}

/// Returns true within [`in_background`].
#[inline]
pub fn is_in_background() -> bool {
    IN_BACKGROUND.try_with(|is| *is).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_scope_concerns_its_own_future_only() {
        let is = async || is_in_background();
        assert!(!is().await);
        in_background(async {
            assert!(is().await);
            assert!(in_background_if(false, is()).await, "an outer scope counts");
            assert!(!tokio::spawn(async { is_in_background() }).await.unwrap());
        })
        .await;
        assert!(!in_background_if(false, is()).await);
    }
}
