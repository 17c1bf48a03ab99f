//! Uploads the files of tasks to a host, once per run for each layout.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_core::lock::locked;
use devgate_transports::SshHost;
use devgate_transports::hosted_program::ProgramFiles;
use devgate_transports::ssh_host::{Source, Upload};
use futures_util::FutureExt;
use tokio::time::timeout;

use super::access::ShellAccess;
use super::script::Script;
use super::{SHORT_SCRIPT_LIMIT, Shell};
use crate::hosts::TaskNotRun;
use crate::tasks::{Implementation, TaskError};

/// The longest time that the upload of a task's files may take.
const UPLOADING: Duration = Duration::from_secs(300);

/// Why files are not on a host.
enum UploadError<E> {
    /// There are no such files here.
    Files(E),
    /// The host has not taken them.
    Host(Failure),
}

impl Shell<'_> {
    /// Uploads a layout unless it is there, and returns its path.
    pub(super) async fn upload(
        &self,
        task: &str,
        implementation: &Implementation,
    ) -> Result<String, TaskNotRun> {
        let layout = &implementation.layout;
        let unreadable = |error| TaskError::Copy {
            task: task.to_owned(),
            path: layout.executable().path.clone(),
            error,
        };
        let digest = layout.digest().map_err(unreadable)?;
        let files = |dir: &str| {
            let files = layout.files().iter();
            let files = files.map(|file| {
                let mode = layout.mode(file)?;
                Ok(upload_of(dir, &file.name, &file.path, mode))
            });
            files.collect::<io::Result<Vec<_>>>()
        };
        let uploaded = self.upload_once(digest, files).await;
        uploaded.map_err(|error| match error {
            UploadError::Files(error) => unreadable(error).into(),
            UploadError::Host(why) => why.into(),
        })
    }

    /// Uploads the files of programs unless they are there, and returns their path.
    pub(super) async fn upload_programs(&self, files: &ProgramFiles) -> Result<String, Failure> {
        let uploads = |dir: &str| {
            let files = files.files.iter();
            let uploads = files.map(|file| upload_of(dir, &file.name, &file.path, file.mode));
            Ok(uploads.collect())
        };
        let uploaded = self.upload_once(&files.digest, uploads).await;
        uploaded.map_err(|error| match error {
            UploadError::<Infallible>::Files(never) => match never {},
            UploadError::Host(why) => why,
        })
    }

    /// Uploads the files with this digest, once. Returns their directory, which `files` gets.
    async fn upload_once<E>(
        &self,
        digest: &str,
        files: impl FnOnce(&str) -> Result<Vec<Upload>, E>,
    ) -> Result<String, UploadError<E>> {
        let dir = format!("{}/{}", self.dir, &digest[..16]);
        let upload = {
            let mut uploads = locked(&self.uploads);
            Arc::clone(uploads.entry(digest.to_owned()).or_default())
        };
        let upload_files = async {
            let files = files(&dir).map_err(UploadError::Files)?;
            self.put(&files).await.map_err(UploadError::Host)
        };
        upload.get_or_try_init(|| upload_files).await?;
        Ok(dir)
    }

    /// Writes files, as the user under which tasks run.
    async fn put(&self, files: &[Upload]) -> Result<(), Failure> {
        let ctx = self.host_context.ctx();
        let put = async {
            if let (ShellAccess::Ssh(connections), None) =
                (&self.programs.access, &self.settings.run_as)
            {
                let put = |host: Arc<SshHost>| {
                    let files = files.to_vec();
                    async move { host.put(&files).await }.boxed()
                };
                connections.start(&ctx, put).await?;
                return Ok(());
            }
            for Upload { from, to, mode } in files {
                let Source::File(path) = from else { continue };
                let content = tokio::fs::read(path).await.map_err(|error| {
                    let message = format!("{}: {error}", path.display());
                    Failure::new("puppetlabs.tasks/task_file_error", message)
                })?;
                self.run_short(&Script::write(to, *mode, &content), SHORT_SCRIPT_LIMIT)
                    .await?;
            }
            Ok(())
        };
        match timeout(UPLOADING, put).await {
            Ok(put) => put,
            Err(_) => Err(Failure::new(
                "puppetlabs.tasks/task_file_error",
                format!("it did not accept the files within {UPLOADING:?}"),
            )),
        }
    }
}

fn upload_of(dir: &str, name: &str, from: &Path, mode: u32) -> Upload {
    Upload {
        from: Source::File(from.to_owned()),
        to: format!("{dir}/{name}"),
        mode,
    }
}
