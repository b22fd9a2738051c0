//! Items for the code that the macros generate. They are not part of the public API and may change in any release.

pub use schemars;
pub use serde;
pub use serde_json;

pub use crate::attribute_value::DefaultValue;
pub use crate::call::{Call, CallValue, Lifetime};
#[cfg(feature = "client")]
pub use crate::client::typed::{
    ClientOf, MockCalls, MockStream, Mocked, NamespacedClient, connect, describe_trait,
    fail_without_answer, missing_answer, panic_without_answer,
};
pub use crate::completion::{Completer, CompleterInfo};
pub use crate::definition::{Definition, Metadata};
pub use crate::form::{
    Field, FormFields, FormVisitor, check_content, downgrade_form, parse_form_content,
};
pub use crate::function::argument::{
    Argument, ArgumentList, Flattened, InputSchema, NamedArguments,
};
pub use crate::function::argument_error::Problem;
pub use crate::function::bounds::Check;
pub use crate::function::field_type::{FieldTraits, LacksTraits, present};
pub use crate::function::kind::{self, Kind, Returns, ReturnsValue};
pub use crate::function::{FeatureKind, Function, Output};
pub use crate::missing_features::tasks as without_tasks;
pub use crate::prompt::{PromptInfo, PromptMetadata};
pub use crate::resource::output::{IntoContents, ResourceReply};
pub use crate::resource::pattern::Part;
pub use crate::resource::{ReadContext, ResourceDetails, ResourceInfo, ResourceMetadata};
pub use crate::result_writer::ResultWriter;
pub use crate::stream::{Collected, Collecting, Fold, IntoBlock, Items, Streaming};
pub use crate::task::TaskKey;
pub use crate::tool::output::IntoContent;
pub use crate::tool::structured::IntoStructured;
pub use crate::tool::{ToolDetails, ToolInfo, ToolMetadata};
pub use crate::typed_contract::{
    Arguments, FromBlock, FromContent, FromItem, FromToolResult, Given, ItemReader, OutputReader,
    TraitContract, prefix_names,
};

/// Returns whether `names` contains `name`. `tools![…]` uses it to reject tools with the same name.
pub const fn contains(names: &[&str], name: &str) -> bool {
    let mut index = 0;
    while index < names.len() {
        if is_same(names[index].as_bytes(), name.as_bytes()) {
            return true;
        }
        index += 1;
    }
    false
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut index = 0;
    while index < one.len() {
        if one[index] != other[index] {
            return false;
        }
        index += 1;
    }
    true
}
