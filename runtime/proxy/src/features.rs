//! The features of a server, as features of the proxy.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use treenail_runtime::dynamic::{self, Feature};
use treenail_runtime::internal::task::TaskTool;
use treenail_runtime::internal::{HeaderArguments, catch_panic};
use treenail_runtime::{FeatureDescriptor, RequiredScopes};
use treenail_schema::internal::shortened;
use treenail_schema::{Prompt, Resource, ResourceTemplate, TaskSupport, Tool};

use crate::interface::map_interface;
use crate::lists::{ListKind, Lists};
use crate::names::Names;
use crate::omissions::Omissions;
use crate::remote::Scope;
use crate::template_uris::TemplateUris;
use crate::upstream::{MountedTool, Upstream, json, not_found};

/// Name of the template of all resources that no list contains.
const UNLISTED: &str = "unlisted";

/// Text of a template that every URI matches.
const ANY_URI: &str = "{+uri}";

/// Maker of the features of one server.
pub(crate) struct FeatureMaker<'a> {
    pub(crate) upstream: &'a Arc<Upstream>,
    pub(crate) names: &'a Names,
    pub(crate) lists: &'a Lists,
    /// Task support of the tools.
    pub(crate) task: Option<&'a Arc<dyn TaskTool>>,
    /// Scopes of each feature.
    pub(crate) scope: Option<&'a Scope>,
    /// Receives the features that cannot be served. `None` if it has them already.
    pub(crate) omissions: Option<&'a Omissions<'a>>,
}

impl FeatureMaker<'_> {
    /// Returns the features of one kind. Those that cannot be served, such as a second one of a name, are omitted with a
    /// warning.
    pub(crate) fn make(&self, kind: ListKind) -> Vec<Feature> {
        let mut seen = HashSet::new();
        match kind {
            ListKind::Tools => {
                let tools = self.lists.tools.iter();
                tools
                    .filter_map(|tool| self.tool(tool, &mut seen))
                    .collect()
            }
            ListKind::Prompts => {
                let prompts = self.lists.prompts.iter();
                prompts
                    .filter_map(|prompt| self.prompt(prompt, &mut seen))
                    .collect()
            }
            ListKind::Resources => {
                let resources = self.lists.resources.iter();
                let resources = resources.filter_map(|one| self.resource(one, &mut seen));
                let mut features: Vec<_> = resources.collect();
                seen.clear();
                let templates = self.lists.templates.iter();
                features.extend(templates.filter_map(|one| self.template(one, &mut seen)));
                features.extend(self.unlisted());
                features.extend(self.interfaces());
                features
            }
        }
    }

    /// Returns the route to resources that no list contains, for servers with resources.
    fn unlisted(&self) -> Option<Feature> {
        if !self.lists.has_resources {
            return None;
        }
        let prefix = self.upstream.uris.prefix().to_owned();
        let (upstream, owner) = (Arc::clone(self.upstream), Arc::clone(self.upstream));
        let route = dynamic::ResourceTemplate::new(format!("{prefix}{{+uri}}"), UNLISTED)
            .scope(self.unlisted_scopes()?)
            // A listed resource has a feature of its own, with scopes of its own.
            .accepts(move |uri| {
                uri.starts_with(&prefix) && !owner.uris.is_foreign(uri) && !owner.is_listed(uri)
            })
            .subscribable(self.lists.subscribable)
            .unlisted();
        Some(route.raw(move |context, read| {
            let upstream = Arc::clone(&upstream);
            async move { upstream.read_unlisted(&context, read.uri()).await }
        }))
    }

    /// Returns the route to the user interfaces of tools that no list contains, under their own URIs.
    fn interfaces(&self) -> Option<Feature> {
        let (upstream, lists) = (self.upstream, self.lists);
        if !lists.has_resources || lists.interfaces.is_empty() || upstream.uris.prefix().is_empty()
        {
            return None;
        }
        let uris: HashSet<String> = lists.interfaces.iter().cloned().collect();
        let (upstream, owner) = (Arc::clone(upstream), Arc::clone(upstream));
        let route = dynamic::ResourceTemplate::new(ANY_URI, "interfaces")
            .scope(self.unlisted_scopes()?)
            .accepts(move |uri| uris.contains(uri) && owner.uris.owns(uri))
            .subscribable(lists.subscribable)
            .unlisted();
        Some(route.raw(move |context, read| {
            let upstream = Arc::clone(&upstream);
            async move { upstream.read_unlisted(&context, read.uri()).await }
        }))
    }

    /// Returns the scopes of a feature. One for which their function panics is omitted.
    fn scopes(&self, feature: &FeatureDescriptor<'_>) -> Option<RequiredScopes> {
        let Some(scope) = self.scope else {
            return Some(RequiredScopes::default());
        };
        let scopes = catch_panic(|| scope(feature));
        let omit = |message: &String| {
            let problem = format!(
                "the function of its scopes panicked: {}",
                shortened(message)
            );
            self.omit("feature", feature.name(), &problem);
        };
        scopes.inspect_err(omit).ok()
    }

    /// Returns the scopes of resources that no list contains.
    fn unlisted_scopes(&self) -> Option<RequiredScopes> {
        let template = ResourceTemplate::new(ANY_URI, UNLISTED);
        self.scopes(&FeatureDescriptor::ResourceTemplate(&template))
    }

    /// Returns the name at the proxy, unless it cannot be used. A name with other characters becomes the title, if there is none.
    fn name(
        &self,
        kind: &str,
        (name, title): (&str, &mut Option<String>),
        seen: Option<&mut HashSet<String>>,
    ) -> Option<String> {
        let inner = self.names.inner(name);
        if matches!(inner, Cow::Owned(_)) {
            title.get_or_insert_with(|| name.to_owned());
        }
        let inner = inner.into_owned();
        let problem = if !self.names.fits(&inner) {
            "its name is too long"
        } else if seen.is_some_and(|seen| !seen.insert(inner.clone())) {
            "another one has its name"
        } else {
            return Some(inner);
        };
        self.omit(kind, name, problem);
        None
    }

    fn omit(&self, kind: &str, name: &str, problem: &str) {
        if let Some(omissions) = self.omissions {
            omissions.one(kind, name, problem);
        }
    }

    fn tool(&self, tool: &Arc<Tool>, seen: &mut HashSet<String>) -> Option<Feature> {
        let execution = tool.execution.as_ref();
        if execution.and_then(|it| it.task_support) == Some(TaskSupport::Required) {
            self.omit("tool", &tool.name, "its server runs it only as a task");
            return None;
        }
        let mut descriptor = Tool::clone(tool);
        // A title in the annotations is one too.
        let annotated = tool.annotations.as_ref().and_then(|it| it.title.clone());
        let mut title = descriptor.title.take().or_else(|| annotated.clone());
        descriptor.name = self.name("tool", (&tool.name, &mut title), Some(seen))?;
        descriptor.title = title.filter(|_| tool.title.is_some() || annotated.is_none());
        if let Some(meta) = &mut descriptor.meta {
            // As the resource is listed, or as it would be.
            let listed = |uri: &str| match self.upstream.uris.listed(uri) {
                Some(Cow::Owned(listed)) => Some(listed),
                _ => None,
            };
            map_interface(meta, listed);
        }
        let scopes = self.scopes(&FeatureDescriptor::Tool(tool))?;
        let upstream = Arc::clone(self.upstream);
        let tool = Arc::new(MountedTool {
            name: tool.name.clone(),
            header_arguments: HeaderArguments::of(tool),
        });
        let mut feature = dynamic::Tool::from(descriptor).scope(scopes);
        if let Some(task) = self.task {
            feature = feature.task(Arc::clone(task));
        }
        Some(feature.raw(move |context, arguments| {
            let (upstream, tool) = (Arc::clone(&upstream), Arc::clone(&tool));
            async move { upstream.call_tool(&context, &tool, arguments.text()).await }
        }))
    }

    fn prompt(&self, prompt: &Arc<Prompt>, seen: &mut HashSet<String>) -> Option<Feature> {
        let mut descriptor = Prompt::clone(prompt);
        descriptor.name = self.name("prompt", (&prompt.name, &mut descriptor.title), Some(seen))?;
        let scopes = self.scopes(&FeatureDescriptor::Prompt(prompt))?;
        let mut feature = dynamic::Prompt::from(descriptor).scope(scopes);
        if self.lists.completes {
            let upstream = Arc::clone(self.upstream);
            let reference: Arc<str> =
                format!(r#"{{"type":"ref/prompt","name":{}}}"#, json(&prompt.name)).into();
            feature = feature.complete_raw(move |context, params| {
                let (upstream, reference) = (Arc::clone(&upstream), Arc::clone(&reference));
                async move { upstream.complete(&context, &reference, params.text()).await }
            });
        }
        let (upstream, prompt) = (Arc::clone(self.upstream), Arc::clone(prompt));
        Some(feature.raw(move |context, arguments| {
            let (upstream, prompt) = (Arc::clone(&upstream), Arc::clone(&prompt));
            async move {
                upstream
                    .get_prompt(&context, &prompt.name, arguments.text())
                    .await
            }
        }))
    }

    fn resource(&self, resource: &Arc<Resource>, seen: &mut HashSet<String>) -> Option<Feature> {
        let mut descriptor = Resource::clone(resource);
        descriptor.name = self.name("resource", (&resource.name, &mut descriptor.title), None)?;
        descriptor.uri = self.uri("resource", &resource.uri, seen)?;
        let upstream = Arc::clone(self.upstream);
        let feature = dynamic::Resource::from(descriptor)
            .scope(self.scopes(&FeatureDescriptor::Resource(resource))?)
            .subscribable(self.lists.subscribable);
        let own = Arc::clone(resource);
        Some(feature.raw(move |context, read| {
            let (upstream, own) = (Arc::clone(&upstream), Arc::clone(&own));
            async move {
                // Another mount may have its prefix since the resource was listed.
                if upstream.uris.is_foreign(read.uri()) {
                    return Err(not_found(&context, read.uri()));
                }
                upstream.read_resource(&context, &own.uri).await
            }
        }))
    }

    fn template(
        &self,
        template: &Arc<ResourceTemplate>,
        seen: &mut HashSet<String>,
    ) -> Option<Feature> {
        let mut descriptor = ResourceTemplate::clone(template);
        descriptor.name = self.name("template", (&template.name, &mut descriptor.title), None)?;
        descriptor.uri_template = self.uri("template", &template.uri_template, seen)?;
        let listed = &descriptor.uri_template;
        let uris = TemplateUris::new(self.upstream, &template.uri_template, listed);
        let (uris, route) = (Arc::clone(&uris), uris);
        let mut feature = dynamic::ResourceTemplate::from(descriptor)
            .scope(self.scopes(&FeatureDescriptor::ResourceTemplate(template))?)
            .accepts(move |uri| route.at_server(uri).is_some())
            .subscribable(self.lists.subscribable);
        if self.lists.completes {
            let upstream = Arc::clone(self.upstream);
            let uri = json(&template.uri_template);
            let reference: Arc<str> = format!(r#"{{"type":"ref/resource","uri":{uri}}}"#).into();
            feature = feature.complete_raw(move |context, params| {
                let (upstream, reference) = (Arc::clone(&upstream), Arc::clone(&reference));
                async move { upstream.complete(&context, &reference, params.text()).await }
            });
        }
        Some(feature.raw(move |context, read| {
            let uris = Arc::clone(&uris);
            async move { uris.read(&context, read.uri()).await }
        }))
    }

    fn uri(&self, kind: &str, uri: &str, seen: &mut HashSet<String>) -> Option<String> {
        let Some(listed) = self.upstream.uris.listed(uri) else {
            self.omit(
                kind,
                uri,
                "another server has its URI, and there is no namespace",
            );
            return None;
        };
        let listed = listed.into_owned();
        if !seen.insert(listed.clone()) {
            self.omit(kind, uri, "another one has its URI");
            return None;
        }
        Some(listed)
    }
}
