//! Reading whole what somebody names: within a limit, and not without a word where it makes one wait.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, Read};
use std::iter;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// How many bytes are read of one file, or of standard input: as many as of a request of PXP.
pub const MOST: usize = 64 << 20;

/// How long nothing may come out of a pipe before it is told that it is waited for.
const SILENCE: Duration = Duration::from_secs(2);

/// The bytes of a file. A pipe is read, too, to its end: `<(…)` of a shell is one.
///
/// # Errors
/// What the system says, or that there is more than is read.
pub fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    bytes_of(open(path)?)
}

/// The text of a file.
///
/// # Errors
/// As of `bytes`, or that it is no UTF-8.
pub fn text(path: &Path) -> io::Result<String> {
    text_of(open(path)?)
}

/// All that comes, such as on standard input.
///
/// # Errors
/// As of `bytes`.
pub fn bytes_of(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MOST as u64 + 1).read_to_end(&mut bytes)?;
    match bytes.len() {
        ..=MOST => Ok(bytes),
        _ => Err(too_large()),
    }
}

/// All that comes, as text.
///
/// # Errors
/// As of [`text`].
pub fn text_of(from: impl Read) -> io::Result<String> {
    String::from_utf8(bytes_of(from)?).map_err(|_| {
        let message = "stream did not contain valid UTF-8";
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

/// Lines as they come; none is longer than what is read of a whole file.
pub fn lines(mut from: impl BufRead) -> impl Iterator<Item = io::Result<String>> {
    iter::from_fn(move || line(&mut from).transpose())
}

/// The next line without its end; none at the end.
fn line(from: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    if from.take(MOST as u64 + 1).read_line(&mut line)? == 0 {
        return Ok(None);
    }
    if line.len() > MOST {
        return Err(too_large());
    }
    if line.ends_with('\n') {
        line.pop();
        if line.ends_with('\r') {
            line.pop();
        }
    }
    Ok(Some(line))
}

/// That there is more than is read.
pub fn too_large() -> io::Error {
    let message = format!(
        "it is larger than {} MiB, which is the most that is read: give less",
        MOST >> 20
    );
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

/// Opens a file to be read; a pipe as soon as something comes out of it.
fn open(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.file_type().is_fifo() {
        return File::open(path);
    }
    let mut options = OpenOptions::new();
    // Otherwise the system waits for a writer, and nobody hears of it.
    options.custom_flags(OFlag::O_NONBLOCK.bits());
    let pipe = options.read(true).open(path)?;
    if !comes(
        &pipe,
        PollTimeout::try_from(SILENCE).unwrap_or(PollTimeout::MAX),
    )? {
        tracing::warn!(
            "waiting for somebody to write into {}, which is a pipe",
            path.display()
        );
        while !comes(&pipe, PollTimeout::NONE)? {}
    }
    fcntl(&pipe, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(pipe)
}

/// Whether something comes out of a pipe, or its end, within this time.
fn comes(pipe: &File, within: PollTimeout) -> io::Result<bool> {
    let mut pipes = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
    match poll(&mut pipes, within) {
        Ok(ready) => Ok(ready > 0),
        // A signal, which is for others.
        Err(Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::*;

    #[test]
    fn what_never_ends_is_read_up_to_the_limit() {
        let error = bytes(Path::new("/dev/zero")).expect_err("it has no end");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(error.to_string().contains("64 MiB"), "{error}");
        let most = io::repeat(b'x').take(MOST as u64);
        assert_eq!(text_of(most).expect("it is no more").len(), MOST);
        let endless = io::BufReader::new(io::repeat(b'x'));
        let line = lines(endless).next().expect("there is one");
        let error = line.expect_err("it has no end");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        let read: io::Result<Vec<String>> = lines(&b"a\r\n\nb"[..]).collect();
        assert_eq!(read.expect("it is text"), ["a", "", "b"]);
    }

    #[test]
    fn a_pipe_is_read_to_its_end_whenever_somebody_writes_into_it() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let pipe = folder.path().join("pipe");
        mkfifo(&pipe, Mode::S_IRUSR | Mode::S_IWUSR)?;
        let reader = {
            let pipe = pipe.clone();
            thread::spawn(move || text(&pipe))
        };
        fs::write(&pipe, "a text")?;
        let read = reader.join().expect("reading does not panic")?;
        assert_eq!(read, "a text");
        Ok(())
    }
}
