//! Queues: order, capacity, cancelled calls, and their end.

use std::future::poll_fn;

use super::*;

#[tokio::test]
async fn messages_are_received_in_order() {
    let (sender, mut receiver) = queue(2);
    assert_eq!(receiver.next(), None);
    assert!(
        sender.queue.sender.get().is_none(),
        "it is not allocated yet"
    );
    assert!(sender.try_send(vec![1]) && sender.try_send(vec![2]));
    assert!(!sender.try_send(vec![3]), "it is full");
    assert_eq!(receiver.next(), Some(vec![1]));
    assert_eq!(poll_fn(|context| receiver.poll_next(context)).await, [2]);
}

#[test]
fn a_drain_ends_although_each_message_is_replaced() {
    let (sender, mut receiver) = queue(3);
    assert_eq!(receiver.drain().count(), 0);
    assert!(
        sender.queue.sender.get().is_none(),
        "it is not allocated yet"
    );
    for message in 0..3 {
        assert!(sender.try_send(vec![message]));
    }
    let mut drained = Vec::new();
    for message in receiver.drain().take(100) {
        assert!(sender.try_send(vec![message[0] + 3]));
        drained.push(message[0]);
    }
    assert_eq!(drained, [0, 1, 2]);
    assert_eq!(receiver.next(), Some(vec![3]), "the others are next");
}

#[tokio::test]
async fn messages_of_a_cancelled_call_are_dropped() {
    let (mut sender, mut receiver) = queue(8);
    sender.start_call();
    let other = sender.clone();
    sender.start_call();
    for message in 1..=2 {
        sender.reserve().await.unwrap().send(vec![message]);
        other.reserve().await.unwrap().send(vec![message + 10]);
    }
    sender.reserve().await.unwrap().send_always(vec![3]);
    receiver.cancel_call(sender.call().unwrap());
    assert!(sender.is_cancelled() && !other.is_cancelled());
    sender.reserve().await.unwrap().send(vec![4]);
    assert_eq!(receiver.next(), Some(vec![11]), "SRV-STDIO-05");
    assert_eq!(receiver.drain().collect::<Vec<_>>(), [[12], [3]]);
    assert!(sender.try_send(vec![5]), "it is of no call");
    assert_eq!(poll_fn(|context| receiver.poll_next(context)).await, [5]);
    receiver.forget_call(sender.call().unwrap());
    assert!(!sender.is_cancelled());
}

#[tokio::test]
async fn messages_of_a_call_that_is_dropped_without_a_response_are_dropped() {
    let (mut sender, mut receiver) = queue(8);
    let calls = [(); 3].map(|()| {
        sender.start_call();
        UnansweredCall::new(sender.clone())
    });
    for call in &calls {
        let message = vec![u8::from(call.number() == sender.call())];
        call.sender.reserve().await.unwrap().send(message);
        call.sender.reserve().await.unwrap().send_always(vec![2]);
    }
    let [first, second, mut third] = calls;
    third.set_answered();
    drop((first, second, third));
    let messages: Vec<_> = std::iter::from_fn(|| receiver.next()).collect();
    assert_eq!(messages, [[2], [2], [1], [2]], "SRV-STDIO-05");
    assert_eq!(sender.queue.calls.len(), 0, "the queue is empty");
}

#[tokio::test]
async fn dropped_calls_without_messages_do_not_displace_others() {
    let (mut sender, mut receiver) = queue(4);
    let calls = [(); 8].map(|()| {
        sender.start_call();
        UnansweredCall::new(sender.clone())
    });
    for call in &calls[..4] {
        call.sender.reserve().await.unwrap().send(vec![1]);
    }
    drop(calls);
    assert_eq!(sender.queue.calls.len(), 4, "those with messages");
    assert_eq!(receiver.next(), None, "SRV-STDIO-05");
    assert_eq!(sender.queue.calls.len(), 0, "the queue is empty");
    sender.start_call();
    sender.reserve().await.unwrap().send(vec![2]);
    assert_eq!(receiver.next(), Some(vec![2]));
}

#[tokio::test]
async fn a_receiver_that_waits_first_is_woken() {
    let (sender, mut receiver) = queue(1);
    let task = tokio::spawn(async move {
        let message = poll_fn(|context| receiver.poll_next(context)).await;
        (message, receiver)
    });
    tokio::task::yield_now().await;
    assert!(
        sender.queue.sender.get().is_none(),
        "it is not allocated yet"
    );
    sender.reserve().await.unwrap().send(vec![7]);
    let (message, receiver) = task.await.unwrap();
    assert_eq!(message, [7]);
    drop(receiver);
    assert!(sender.reserve().await.is_none());
}

#[tokio::test]
async fn a_queue_closes_with_its_receiver() {
    let mut context = Context::from_waker(Waker::noop());
    // Before it is allocated, when it is allocated, and when its receiver has been used.
    for step in 0..3 {
        let (sender, mut receiver) = queue(1);
        if step == 1 {
            assert!(sender.try_send(vec![1]));
        }
        if step == 2 {
            assert!(receiver.poll_next(&mut context).is_pending());
        }
        drop(receiver);
        sender.closed().await;
        assert!(!sender.try_send(vec![2]), "{step}");
        assert!(sender.reserve().await.is_none(), "{step}");
    }
}
