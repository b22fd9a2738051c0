//! Requests of clients: `skills/list`, `skills/get`, `resources/directory/read`, and the contents of files.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use treenail_runtime::internal::resource_source::{ReadResource, VisibleResources, caching};
use treenail_runtime::{Context, Extension, ExtensionMethod, RpcError};
use treenail_schema::{CacheScope, Resource, ResourceContents};

use crate::set::{Child, Folder, SkillSet};
use crate::skills::Shared;

/// Adds the methods. Clients need not declare the extension.
pub(crate) fn add(extension: Extension, shared: &Arc<Shared>) -> Extension {
    let [list, get, directory] = std::array::from_fn(|_| Arc::clone(shared));
    let list = ExtensionMethod::new("skills/list", move |context, params| {
        std::future::ready(list_skills(&list, &context, &params))
    });
    let get = ExtensionMethod::new("skills/get", move |context, params| {
        std::future::ready(get_skill(&get, &context, &params))
    });
    let directory = ExtensionMethod::new("resources/directory/read", move |context, params| {
        std::future::ready(read_directory(&directory, &context, &params))
    });
    extension
        .add_method(list.ungated())
        .add_method(get.ungated())
        .add_method(directory.ungated())
}

#[derive(Deserialize)]
struct ListParams {
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct GetParams {
    uri: String,
}

#[derive(Deserialize)]
struct DirectoryParams {
    uri: String,
    cursor: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListResult {
    skills: Vec<Entry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(flatten)]
    caching: Caching,
}

#[derive(Serialize)]
struct GetResult {
    skill: Entry,
    #[serde(flatten)]
    caching: Caching,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DirectoryResult {
    resources: Vec<Resource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Permission to cache a result, which revisions before 2026-07-28 do not have.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Caching {
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_scope: Option<CacheScope>,
}

impl Caching {
    fn of(context: &Context) -> Self {
        let (ttl_ms, cache_scope) = caching(context).unzip();
        Self {
            ttl_ms,
            cache_scope,
        }
    }
}

/// Entry of a skill.
struct Entry {
    set: Arc<SkillSet>,
    position: usize,
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::serialize(&self.set.skills[self.position].entry, serializer)
    }
}

fn list_skills(
    shared: &Shared,
    context: &Context,
    params: &ListParams,
) -> Result<ListResult, RpcError> {
    let set = shared.current();
    let visible = VisibleResources::of(context);
    let skills = set.skills.iter().enumerate();
    let skills = skills.filter(|(_, skill)| visible.contains(&skill.uri));
    let positions: Vec<_> = skills.map(|(position, _)| position).collect();
    let keys = positions.iter().map(|position| {
        let skill = &set.skills[*position];
        (&*skill.uri, skill.entry.get().len())
    });
    let keys: Vec<_> = keys.collect();
    let (page, next_cursor) = page(&keys, params.cursor.as_deref(), context)?;
    let entries = positions[page].iter().map(|position| Entry {
        set: Arc::clone(&set),
        position: *position,
    });
    Ok(ListResult {
        skills: entries.collect(),
        next_cursor,
        caching: Caching::of(context),
    })
}

fn get_skill(
    shared: &Shared,
    context: &Context,
    params: &GetParams,
) -> Result<GetResult, RpcError> {
    let set = shared.current();
    let mut skills = set.skills.iter();
    let position = skills
        .position(|skill| *skill.uri == *params.uri)
        .filter(|_| VisibleResources::of(context).contains(&params.uri))
        .ok_or_else(|| unknown("there is no skill", &params.uri))?;
    Ok(GetResult {
        skill: Entry { set, position },
        caching: Caching::of(context),
    })
}

fn read_directory(
    shared: &Shared,
    context: &Context,
    params: &DirectoryParams,
) -> Result<DirectoryResult, RpcError> {
    let set = shared.current();
    let visible = VisibleResources::of(context);
    let is_visible = |skill: &usize| visible.contains(&set.skills[*skill].uri);
    let is_seen = |folder: &&Folder| folder.skills.iter().any(is_visible);
    let folder = set.folders.get(&params.uri).filter(is_seen);
    let folder = folder.ok_or_else(|| unknown("there is no folder of skills", &params.uri))?;
    let children = folder.children.iter().filter(|child| match child {
        Child::File(position) => set.files[*position].skills.iter().any(is_visible),
        Child::Folder(uri) => set.folders.get(uri).is_some_and(|folder| is_seen(&folder)),
    });
    let children: Vec<_> = children.collect();
    let keys = children.iter().map(|child| {
        let uri = set.uri_of(child);
        (uri, uri.len())
    });
    let keys: Vec<_> = keys.collect();
    let (page, next_cursor) = page(&keys, params.cursor.as_deref(), context)?;
    let resources = children[page].iter().filter_map(|child| match child {
        Child::File(position) => Some(set.files[*position].resource()),
        Child::Folder(uri) => {
            let mut resource = Resource::new(&**uri, &*set.folders.get(uri)?.name);
            resource.mime_type = Some("inode/directory".to_owned());
            Some(resource)
        }
    });
    Ok(DirectoryResult {
        resources: resources.collect(),
        next_cursor,
    })
}

/// Maximum size of the items of a page in bytes. A page has at least one item.
const MAX_PAGE_BYTES: usize = 1024 * 1024;

/// Returns the page at a cursor, which is the key of its first item, and the next cursor. Items are given by their keys and sizes.
fn page(
    items: &[(&str, usize)],
    cursor: Option<&str>,
    context: &Context,
) -> Result<(Range<usize>, Option<String>), RpcError> {
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let start = items.iter().position(|(key, _)| *key == cursor);
            start.ok_or_else(|| unknown("there is no page at the cursor", cursor))?
        }
    };
    let mut bytes = 0;
    let most = context.server().limits().page_size.max(1);
    let page = items[start..].iter().take(most).enumerate();
    let page = page.take_while(|(position, (_, size))| {
        bytes += size;
        *position == 0 || bytes <= MAX_PAGE_BYTES
    });
    let end = start + page.count();
    let next = items.get(end).map(|(key, _)| (*key).to_owned());
    Ok((start..end, next))
}

/// Returns the error for an unknown name, of which it repeats the start.
fn unknown(problem: &str, name: &str) -> RpcError {
    const MOST: usize = 200;
    let shown: String = name.chars().take(MOST).collect();
    let cut = if shown.len() < name.len() { "…" } else { "" };
    RpcError::invalid_params(format!("{problem} {shown:?}{cut}"))
}

/// Contents of the files of skills.
#[derive(Debug)]
pub(crate) struct Content {
    set: Arc<SkillSet>,
}

impl Content {
    pub(crate) fn new(set: Arc<SkillSet>) -> Self {
        Self { set }
    }
}

impl ReadResource for Content {
    fn contains(&self, uri: &str) -> bool {
        self.set.file(uri).is_some()
    }

    fn read(&self, context: &Context, uri: &str) -> Option<ResourceContents> {
        let file = self.set.file(uri)?;
        let visible = VisibleResources::of(context);
        let mut skills = file.skills.iter();
        let seen = skills.any(|skill| visible.contains(&self.set.skills[*skill].uri));
        seen.then(|| file.contents())
    }
}
