//! Two contracts beside each other.

mod prompt;
mod report;
mod resource;
mod schema;
mod tool;

use treenail_schema::{Implementation, Tool};

use self::report::{Entry, Report};
use crate::DriftLimits;
use crate::{Contract, Drift, Severity, Subject, canonical, recorder};

impl Contract {
    /// How a server has changed since this contract was recorded, from the point of view of a program that was written
    /// against it. The default of [`DriftLimits`] bounds what is looked at and kept.
    ///
    /// - *Tools, prompts, templates and resources* that are gone are breaking, new ones additive.
    /// - *Arguments* (`inputSchema`): what was allowed has to stay allowed. A new argument that has to be given, one that is
    ///   gone or has to be given now, a narrower type, an enum value less or a tighter bound is breaking; the reverse is
    ///   additive, and so is another default.
    /// - *Results* (`outputSchema`): the other way round. A property that is gone or may be missing now, a wider type or an
    ///   enum value more is breaking; a new property is additive.
    /// - *Annotations* that people and programs agree to calls by: a tool that is not read-only any more, that may
    ///   destroy, deal with the outside world or not be repeated, and did not before, is breaking; the reverse is additive.
    /// - *Titles, descriptions, instructions*, and other words, are wording; both are in the [`Change`](crate::Change).
    ///   In a schema they are told wherever they stand, also where they mean nothing: models may read them.
    /// - What cannot be judged is breaking, if it is different: `$ref`s within the schema are followed, but not those
    ///   to elsewhere; choices (`oneOf`) that overlap, `not` and conditions (`if`) are only told apart.
    ///
    /// Order makes no difference, nor do forms that mean the same: `"string"` and `["string"]`, `const` and an enum of one
    /// value, `$ref` and what it refers to, `anyOf` with `null` and a type with `null`, the marks of drafts.
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

    /// [`drift`](Self::drift) within other bounds: `changes`, `text_bytes`, `depth` and `steps` of
    /// the limits.
    pub fn drift_within(&self, live: &Self, limits: &DriftLimits) -> Drift {
        let mut report = Report::new(limits, recorder::gone(self, live));
        if self.only.is_none() {
            self.compare_server(live, &mut report);
        }
        let counts = |tool: &&Tool| {
            let only = self.only.as_ref();
            only.is_none_or(|only| only.contains(&tool.name))
        };
        let live_tools = live.tools.iter().filter(counts);
        pair(
            &mut report,
            Subject::Tool,
            self.tools.iter(),
            live_tools,
            tool::compare,
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
            entry.words("/server/name", "the name", Some(&old.name), Some(&new.name));
            let versions = (Some(&*old.version), Some(&*new.version));
            entry.words("/server/version", "the version", versions.0, versions.1);
        }
        if let (Some(old), Some(new)) = (&self.protocol_version, &live.protocol_version) {
            let what = "the revision of the protocol";
            entry.words("/protocolVersion", what, Some(old), Some(new));
        }
        let instructions = (self.instructions(), live.instructions());
        entry.words(
            "/instructions",
            "the instructions",
            instructions.0,
            instructions.1,
        );
    }

    fn compare_others(&self, live: &Self, report: &mut Report<'_>) {
        let (old, new) = (self.prompts.iter(), live.prompts.iter());
        pair(report, Subject::Prompt, old, new, prompt::compare);
        let old = self.resource_templates.iter();
        let new = live.resource_templates.iter();
        pair(
            report,
            Subject::ResourceTemplate,
            old,
            new,
            resource::compare_templates,
        );
        if let (Some(old), Some(new)) = (&self.resources, &live.resources) {
            let (old, new) = (old.iter(), new.iter());
            pair(report, Subject::Resource, old, new, resource::compare);
        }
    }
}

/// Goes through two sorted lists, and compares what has the same key.
fn pair<'a, T: canonical::Entry + 'a>(
    report: &mut Report<'_>,
    subject: Subject,
    old: impl Iterator<Item = &'a T>,
    new: impl Iterator<Item = &'a T>,
    compare: impl Fn(&T, &T, &mut Entry<'_, '_>),
) {
    let (mut old, mut new) = (old.peekable(), new.peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (Some(one), Some(other)) => one.key().cmp(other.key()),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return,
        };
        let gone = if order.is_le() { old.next() } else { None };
        let come = if order.is_ge() { new.next() } else { None };
        match (gone, come) {
            (Some(old), Some(new)) => compare(old, new, &mut report.entry(subject, new.key())),
            (Some(old), None) => {
                let message = report.gone.clone();
                let mut entry = report.entry(subject, old.key());
                entry.change(Severity::Breaking, "", &message);
            }
            (None, Some(new)) => {
                let mut entry = report.entry(subject, new.key());
                entry.change(Severity::Additive, "", "it is new");
            }
            (None, None) => {}
        }
    }
}
