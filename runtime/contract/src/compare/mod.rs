//! Comparison of two contracts.

mod comparable;
mod prompt;
mod report;
mod resource;
mod schema;
mod tool;

use treenail_schema::{Implementation, Tool};

use self::comparable::Comparable;
use self::report::{EntryReport, Report};
use crate::DriftLimits;
use crate::{Contract, Drift, Severity, Subject, canonical, recorder};

impl Contract {
    /// Returns the changes of a server since this contract was recorded. Their severity is the effect on a program that was
    /// written against this contract. Uses the default [`DriftLimits`].
    ///
    /// - *Tools, prompts, templates and resources*: a removed entry is breaking, a new one additive.
    /// - *Arguments* (`inputSchema`): every value that was allowed must remain allowed. Breaking: a new required argument, a
    ///   removed argument, an argument that is now required, a narrower type, a removed enum value, a tighter bound. The
    ///   reverse is additive, and so is a changed default.
    /// - *Results* (`outputSchema`): no value may become allowed that was not. Breaking: a removed property, a property that
    ///   is now optional, a wider type, a new enum value. A new property is additive.
    /// - *Annotations*, because calls are approved by them. Breaking: a tool is no longer read-only or idempotent, or may now
    ///   be destructive or interact with external entities. The reverse is additive.
    /// - *Titles, descriptions, instructions* and other text are wording. The [`Change`](crate::Change) contains both texts.
    ///   Text in a schema is reported at any position, also where it has no effect, because models may read it.
    /// - *Differences that cannot be judged* are breaking. References (`$ref`) within the schema are resolved, external ones
    ///   are not. For overlapping alternatives (`oneOf`), `not` and conditions (`if`), any difference is breaking.
    ///
    /// Order does not matter, and equivalent forms are equal: `"string"` and `["string"]`, `const` and an enum of one value,
    /// `$ref` and the referenced schema, `anyOf` with `null` and a type with `null`, `$schema` and other marks of drafts.
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use treenail::client::{Contract, Severity};
    /// use treenail::schema::Tool;
    ///
    /// let contract = |days: Value| {
    ///     let schema = json!({"type": "object", "properties": {"days": days}});
    ///     let tool = Tool::new("forecast", schema.as_object().cloned().unwrap_or_default());
    ///     Contract::new().with_tools([tool])
    /// };
    /// let recorded = contract(json!({"type": "integer", "maximum": 10}));
    /// let drift = recorded.drift(&contract(json!({"type": "integer", "maximum": 7})));
    /// assert_eq!(drift.worst(), Some(Severity::Breaking));
    /// assert_eq!(drift.changes()[0].path, "/inputSchema/properties/days/maximum");
    /// ```
    pub fn drift(&self, live: &Self) -> Drift {
        self.drift_within(live, &DriftLimits::default())
    }

    /// Returns the same as [`drift`](Self::drift), within other limits.
    pub fn drift_within(&self, live: &Self, limits: &DriftLimits) -> Drift {
        let comparable = Comparable::of(self.protocol_version(), live.protocol_version());
        let removal_message = recorder::removal_message(self, live);
        let mut report = Report::new(limits, comparable, removal_message);
        if self.only.is_none() {
            self.compare_server(live, &mut report);
        }
        let is_included = |tool: &&Tool| {
            let only = self.only.as_ref();
            only.is_none_or(|only| only.contains(&tool.name))
        };
        let live_tools = live.tools.iter().filter(is_included);
        compare_lists(
            &mut report,
            Subject::Tool,
            self.tools.iter(),
            live_tools,
            |old, new, entry| {
                let undeclared = [self, live].map(|it| it.undeclared_outputs.get(&old.name));
                tool::compare(old, new, undeclared, entry);
            },
        );
        if self.only.is_none() {
            self.compare_others(live, &mut report);
        }
        report.finish()
    }

    fn compare_server(&self, live: &Self, report: &mut Report<'_>) {
        let name = |server: &Implementation| server.name.clone();
        let known = live.server.as_ref().or(self.server.as_ref());
        let mut entry = report.entry(Subject::Server, &known.map(name).unwrap_or_default());
        if let (Some(old), Some(new)) = (&self.server, &live.server) {
            entry.report_wording("/server/name", "the name", Some(&old.name), Some(&new.name));
            let versions = (Some(&*old.version), Some(&*new.version));
            entry.report_wording("/server/version", "the version", versions.0, versions.1);
        }
        if let (Some(old), Some(new)) = (&self.protocol_version, &live.protocol_version) {
            let what = "the protocol version";
            entry.report_wording("/protocolVersion", what, Some(old), Some(new));
        }
        let instructions = (self.instructions(), live.instructions());
        entry.report_wording(
            "/instructions",
            "the instructions",
            instructions.0,
            instructions.1,
        );
    }

    fn compare_others(&self, live: &Self, report: &mut Report<'_>) {
        let (old, new) = (self.prompts.iter(), live.prompts.iter());
        compare_lists(report, Subject::Prompt, old, new, prompt::compare);
        let old = self.resource_templates.iter();
        let new = live.resource_templates.iter();
        compare_lists(
            report,
            Subject::ResourceTemplate,
            old,
            new,
            resource::compare_templates,
        );
        if let (Some(old), Some(new)) = (&self.resources, &live.resources) {
            let (old, new) = (old.iter(), new.iter());
            compare_lists(report, Subject::Resource, old, new, resource::compare);
        }
    }
}

/// Merges two sorted lists, compares entries with the same key, and reports the others.
fn compare_lists<'a, T: canonical::Entry + 'a>(
    report: &mut Report<'_>,
    subject: Subject,
    old: impl Iterator<Item = &'a T>,
    new: impl Iterator<Item = &'a T>,
    compare: impl Fn(&T, &T, &mut EntryReport<'_, '_>),
) {
    let (mut old, mut new) = (old.peekable(), new.peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (Some(one), Some(other)) => one.key().cmp(other.key()),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return,
        };
        let removed = if order.is_le() { old.next() } else { None };
        let added = if order.is_ge() { new.next() } else { None };
        match (removed, added) {
            (Some(old), Some(new)) => compare(old, new, &mut report.entry(subject, new.key())),
            (Some(old), None) => {
                let message = report.removal_message.clone();
                let mut entry = report.entry(subject, old.key());
                entry.report(Severity::Breaking, "", &message);
            }
            (None, Some(new)) => {
                let mut entry = report.entry(subject, new.key());
                entry.report(Severity::Additive, "", "added");
            }
            (None, None) => {}
        }
    }
}
