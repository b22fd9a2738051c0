//! The request behind a call: the principal, the method, and the arguments.

use treenail_schema::Method;

/// The request behind a call, borrowed. Questions of its function to the client are bound to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallTarget<'a> {
    /// The caller, if a transport has authenticated it.
    pub(crate) principal: Option<&'a str>,
    /// `None` for a method of an extension, whose parameters are the arguments.
    pub(crate) method: Option<Method>,
    /// The name of a tool or prompt, the URI of a resource, or the name of an argument to complete.
    pub(crate) name: &'a str,
    /// The text of the object with the arguments.
    pub(crate) arguments: Option<&'a str>,
}

/// A [`CallTarget`] that owns its texts.
#[derive(Clone, Debug)]
pub(crate) struct OwnedTarget {
    principal: Option<Box<str>>,
    method: Option<Method>,
    name: Box<str>,
    pub(crate) arguments: Option<Box<str>>,
}

impl From<CallTarget<'_>> for OwnedTarget {
    fn from(target: CallTarget<'_>) -> Self {
        Self {
            principal: target.principal.map(Into::into),
            method: target.method,
            name: target.name.into(),
            arguments: target.arguments.map(Into::into),
        }
    }
}

impl OwnedTarget {
    #[cfg(feature = "tower")]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    #[cfg(feature = "tower")]
    pub(crate) fn method(&self) -> Method {
        self.method.expect("layers get no requests of extensions")
    }

    pub(crate) fn borrow(&self) -> CallTarget<'_> {
        CallTarget {
            principal: self.principal.as_deref(),
            method: self.method,
            name: &self.name,
            arguments: self.arguments.as_deref(),
        }
    }
}
