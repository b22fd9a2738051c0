//! Tests beyond `tests/ui`: several errors at once, and omissions from the expansion.

use proc_macro2::TokenStream;
use quote::quote;

use super::mcp_tool;
use crate::diag::messages;

/// Returns the messages of the `compile_error!`s in an expansion.
fn errors(args: TokenStream, item: &TokenStream) -> Vec<String> {
    messages(mcp_tool(args, item))
}

#[track_caller]
fn check(args: TokenStream, item: &TokenStream, expected: &[&str]) {
    assert_eq!(errors(args, item), expected, "{item}");
}

#[test]
fn correct_items_have_no_errors() {
    check(
        quote!(),
        &quote!(
            fn f() {}
        ),
        &[],
    );
    check(
        quote!(name = "a.b-c", read_only, destructive = false),
        &quote!(
            pub(crate) async fn f(mut a: u8, #[arg(name = "b")] [x, y]: [u8; 2]) {}
        ),
        &[],
    );
    check(
        quote!(namespace = "a.b", crate = c::d),
        &quote!(
            impl<T: U> S<T>
            where
                T: V,
            {
                const C: u8 = 1;
                type A = u8;
                #[tool]
                fn f() {}
            }
        ),
        &[],
    );
}

#[test]
fn all_mistakes_are_reported_at_once() {
    check(
        quote!(titel = "a", blocking),
        &quote!(
            async fn f<T>(&mut self, (a, b): (T, T), c: &mut C) {}
        ),
        &[
            "unknown key `titel`; did you mean `title`?",
            "tool `f` takes `self`; tools on a type go in an `#[mcp_tool]` impl block, marked `#[tool]`",
            "a tool can't be generic; write concrete types",
            "a tool can't borrow mutably; take arguments by value",
            "`blocking` on an `async fn`; remove one of the two",
            "an argument needs a name; write one name here, or `#[arg(name = \"…\")]` before it",
        ],
    );
}

#[test]
fn keys_of_a_task_are_inside_of_it() {
    check(
        quote!(task, resume, keep = "1d", run_time = "2h"),
        &quote!(
            async fn f() {}
        ),
        &[
            "this is a key of `task`; write `task(resume)`",
            "this is a key of `task`; write `task(keep = …)`",
            "this is a key of `task`; write `task(run_time = …)`",
        ],
    );
}

#[test]
fn prompts_and_resources_have_rules_of_their_own() {
    check(
        quote!(namespace = "a"),
        &quote!(
            impl S {
                #[prompt(read_only)]
                fn f<T>(&self, #[arg(complete = Self::g)] a: T) {}
                #[resource("a:{b}/{+c}", mime = "b/c")]
                fn g(b: u8) -> String {}
                #[resource("a:{b}/{+c}")]
                fn h(b: u8, #[arg(name = "c")] d: u8) -> String {}
                #[resource("a:b")]
                unsafe fn i(b: u8) -> String {}
                #[prompt(name = "f")]
                fn j(#[cfg(unix)] a: u8) -> String {}
            }
        ),
        &[
            "unknown key `read_only`; write one of `name`, `title`, `scope`, `icons`, `meta`, `blocking`",
            "unknown key `mime`; did you mean `mime_type`?",
            "`cfg` on a parameter of a prompt; write two functions with a `cfg` each",
            "another prompt in this block is named `f`; write `name = \"…\"` on one",
            "another resource in this block has this URI; change one",
            "this function takes no `&self`; add it, or move the function out of the block",
            "a prompt can't be generic; write concrete types",
            "a prompt needs an output; write a return type, like `-> String`",
            "no argument for variable `c`; add a parameter of this name",
            "a resource is a plain Rust function; remove this",
            "the URI has no variable `b`; write `{b}` in it",
        ],
    );
}

#[test]
fn streams_have_rules_of_their_own() {
    check(
        quote!(),
        &quote!(
            impl S {
                #[tool(blocking, fold = "lats")]
                fn f(&self) -> impl Stream<Item = Result<&str, E>> {}
                #[tool(stream, fold = 1)]
                fn g(&self) -> &str {}
                #[tool(stream = false)]
                fn h(&self) -> Vec<&str> {}
                #[tool(blocking = false)]
                fn i(&self) -> Box<dyn Stream<Item = &'static str> + Send + '_> {}
                #[prompt(fold = "last")]
                fn j() -> impl Stream<Item = String> {}
            }
        ),
        &[
            "unknown fold `lats`; did you mean `last`?",
            "wrong value for key `fold`; write `fold = \"…\"`",
            "unknown key `fold`; write one of `name`, `title`, `scope`, `icons`, `meta`, `blocking`",
            "a stream can't be `blocking`; remove this, and send the items through a channel from a thread that may block",
            "the items borrow here; make them owned, like `String` for `&str`",
            "`stream` is for tools that return a stream; remove it",
            "the output borrows here; return an owned type, like `String` for `&str`",
            "only tools can stream; a prompt returns one value, like `Vec<T>` or `String`",
        ],
    );
}

#[test]
fn names_follow_the_protocol() {
    let illegal = |name: &str| {
        !errors(
            quote!(name = #name),
            &quote!(
                fn f() {}
            ),
        )
        .is_empty()
    };
    let longest = "a".repeat(128);
    for name in ["a", "A-1_b.c", longest.as_str()] {
        assert!(!illegal(name), "{name}");
    }
    for name in [
        "",
        ".",
        "a.",
        ".a",
        "a..b",
        "a b",
        "a/b",
        "é",
        &format!("{longest}a"),
    ] {
        assert!(illegal(name), "{name}");
    }
}

#[test]
fn namespace_and_dot_count_in_the_length_of_a_name() {
    let block = quote!(impl S { #[tool] fn f() {} });
    let fits = "a".repeat(126);
    check(quote!(namespace = #fits), &block, &[]);
    let long = "a".repeat(127);
    let error = "tool name of 129 characters with its namespace; the maximum is 128";
    check(quote!(namespace = #long), &block, &[error]);
}

#[test]
fn tools_under_different_cfgs_do_not_clash() {
    let error = "another tool in this block is named `a`; write `name = \"…\"` on one";
    let block = |first, second| {
        quote! {
            impl S {
                #first #[tool] fn a() {}
                #second #[tool(name = "a")] fn b() {}
            }
        }
    };
    let (unix, windows) = (quote!(#[cfg(unix)]), quote!(#[cfg(windows)]));
    check(quote!(), &block(quote!(), quote!()), &[error]);
    check(quote!(), &block(unix.clone(), unix.clone()), &[error]);
    check(quote!(), &block(unix.clone(), quote!()), &[error]);
    check(quote!(), &block(unix, windows), &[]);
}

#[test]
fn argument_names_are_distinct() {
    let error = "another argument is named `a`; rename one";
    check(
        quote!(),
        &quote!(
            fn f(a: u8, #[arg(name = "a")] b: u8) {}
        ),
        &[error],
    );
    check(
        quote!(),
        &quote!(
            fn f(#[arg(name = "a")] b: u8, a: u8) {}
        ),
        &[error],
    );
}

#[test]
fn renamed_crate_is_the_only_path_to_the_facade() {
    let tool = quote! {
        async fn f(cx: &Context, #[arg(default = "a", length = 1..)] a: String) -> Result<u8, E> {}
    };
    let others = quote! {
        impl S {
            #[prompt]
            async fn f(cx: &Context, #[arg(default, complete = Self::g)] a: String) -> Result<u8, E> {}
            #[resource("a:{+b}")]
            fn h(#[arg(complete = g)] b: u8) -> &str {}
        }
    };
    let stream = quote! {
        fn f(cx: &Context) -> Result<impl Stream<Item = Result<u8, E>>, E> {}
    };
    let named =
        quote!(impl S { #[tool(stream, fold = "last")] fn f(&self) -> BoxStream<'_, u8> {} });
    let blocks = [quote!(impl S { #[tool] #tool }), others, named];
    for item in [tool.clone(), stream].into_iter().chain(blocks) {
        let expansion = mcp_tool(quote!(crate = renamed::nail), &item).to_string();
        assert!(expansion.contains("renamed :: nail"), "{expansion}");
        assert!(!expansion.contains("treenail"), "{expansion}");
    }
}

#[test]
fn our_attributes_are_removed() {
    let item = quote! {
        impl S {
            #[tool(title = "F")]
            fn f(#[doc = "A"] #[arg(default)] #[allow(unused)] a: u8) {}
            fn g(#[arg] b: u8) {}
        }
    };
    let expansion = mcp_tool(quote!(), &item).to_string();
    for kept in [
        quote!(
            fn f(#[allow(unused)] a: u8) {}
        ),
        quote!(
            fn g(#[arg] b: u8) {}
        ),
    ] {
        assert!(expansion.contains(&kept.to_string()), "{expansion}");
    }
}
