//! `@modelcontextprotocol/server-filesystem`, in a temporary folder.

use std::fs;
use std::path::Path;

use generated::filesystem::{SecureFilesystemClient, types};
use treenail::ClientError;

use crate::installed::{command, connect};

async fn client(folder: &Path) -> SecureFilesystemClient {
    SecureFilesystemClient::new(&connect(command("filesystem").arg(folder)).await)
}

#[tokio::test]
async fn files_are_written_edited_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let files = client(&root).await;
    let at = |name: &str| root.join(name).to_str().unwrap().to_owned();

    let write = types::WriteFile {
        path: at("a.txt"),
        content: "one\ntwo\n".into(),
    };
    let written = files.write_file(write);
    assert!(written.await.unwrap().content.contains("a.txt"));
    let read = types::ReadTextFile::new(at("a.txt")).with_head(1);
    let read: types::ReadTextFileOutput = files.read_text_file(read).await.unwrap();
    assert_eq!(read.content, "one");
    let edit = types::EditFileEdit {
        old_text: "two".into(),
        new_text: "three".into(),
    };
    let edited = files.edit_file(types::EditFile::new([edit], at("a.txt")));
    assert!(edited.await.unwrap().content.contains("+three"));
    assert_eq!(
        fs::read_to_string(root.join("a.txt")).unwrap(),
        "one\nthree\n"
    );

    let sizes = types::ListDirectoryWithSizes::new(at(""))
        .with_sort_by(types::ListDirectoryWithSizesSortBy::Size);
    let sizes = files.list_directory_with_sizes(sizes).await.unwrap();
    assert!(sizes.content.contains("a.txt"));
    let allowed = files.list_allowed_directories().await.unwrap();
    assert!(allowed.content.contains(root.to_str().unwrap()));
}

#[tokio::test]
async fn alternatives_are_distinguished() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::write(root.join("dot.png"), b"\x89PNG").unwrap();
    fs::write(root.join("data.bin"), b"\0\x01").unwrap();
    let files = client(&root).await;
    let read = |name: &str| {
        let path = root.join(name).to_str().unwrap().to_owned();
        files.read_media_file(types::ReadMediaFile::new(path))
    };
    let image = read("dot.png").await.unwrap();
    let types::ReadMediaFileOutputContentItem::WithData(image) = &image.content[0] else {
        panic!("no image: {image:?}");
    };
    assert_eq!(image.mime_type, "image/png");
    assert_eq!(image.r#type.as_str(), "image");
    let data = read("data.bin").await.unwrap();
    let types::ReadMediaFileOutputContentItem::Resource(data) = &data.content[0] else {
        panic!("no resource: {data:?}");
    };
    assert_eq!(data.resource.blob, "AAE=");
}

#[tokio::test]
async fn failed_tool_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let files = client(folder.path()).await;
    let outside = files.read_text_file(types::ReadTextFile::new("/etc/hostname"));
    let error = outside.await.unwrap_err();
    assert!(matches!(error, ClientError::Tool(_)), "{error:?}");
}
