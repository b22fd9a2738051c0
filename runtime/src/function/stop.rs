//! Functions that have not run, or have no result, and the responses to their requests.

use crate::function::FeatureKind;
use crate::function::argument_error::Problem;
use crate::handler::PendingResult;
use crate::result_writer::ResultWriter;
use crate::wire::RpcError;

/// `None` if the result has been written, otherwise the future that writes it.
pub(crate) type Started = Result<Option<PendingResult>, Stop>;

/// Reason why a function has not run, or has no result.
pub(crate) enum Stop {
    Arguments(Vec<Problem>),
    Failed(RpcError),
}

impl Stop {
    pub(super) fn respond(
        self,
        info: &impl FeatureKind,
        arguments: Option<&str>,
        result: &mut ResultWriter<'_>,
    ) -> Result<Option<PendingResult>, RpcError> {
        match self {
            Self::Arguments(problems) => info.reject(&problems, arguments, result).map(|()| None),
            Self::Failed(error) => Err(error),
        }
    }
}

impl From<Vec<Problem>> for Stop {
    fn from(problems: Vec<Problem>) -> Self {
        Self::Arguments(problems)
    }
}

impl From<RpcError> for Stop {
    fn from(error: RpcError) -> Self {
        Self::Failed(error)
    }
}
