//! Uploads the files of tasks to a host, once per run for each layout.

use std::sync::Arc;
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_core::lock::locked;
use devgate_transports::SshHost;
use devgate_transports::ssh_host::{Source, Upload};
use tokio::time::timeout;

use super::access::ShellAccess;
use super::script::Script;
use super::{SHORT_SCRIPT_LIMIT, Shell};
use crate::hosts::TaskNotRun;
use crate::tasks::{Implementation, TaskError};

/// The longest time that the upload of a task's files may take.
const UPLOADING: Duration = Duration::from_secs(300);

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
        let dir = format!("{}/{}", self.dir, &digest[..16]);
        let upload = {
            let mut uploads = locked(&self.uploads);
            Arc::clone(uploads.entry(digest.to_owned()).or_default())
        };
        let upload_files = async {
            let mut files = Vec::new();
            for file in layout.files() {
                files.push(Upload {
                    from: Source::File(file.path.clone()),
                    to: format!("{dir}/{}", file.name),
                    mode: layout.mode(file).map_err(unreadable)?,
                });
            }
            self.put(&files).await.map_err(TaskNotRun::NotStarted)
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
                let put = async |host: &SshHost| host.put(files).await;
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
                format!("it did not accept the files of the task within {UPLOADING:?}"),
            )),
        }
    }
}
