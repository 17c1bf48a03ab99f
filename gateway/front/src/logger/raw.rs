//! Events of `tracing`, from our code outside runs and from libraries. They belong to the current run, if there is one.

use std::fmt;
use std::io::{self, Write};

use devgate_core::events::RUN;
use devgate_core::redactor::log_line;
use devgate_schemas::Level;
use tracing::level_filters::LevelFilter;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{self as lines, FmtContext, MakeWriter};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use crate::logger::Logger;
use crate::options::LogLevel;

/// Sends the events of `tracing` to a logger.
pub(super) fn install(logger: &Logger, min_level: LogLevel) {
    let our_level = match min_level {
        LogLevel::Trace => LevelFilter::TRACE,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Notice | LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Error => LevelFilter::ERROR,
    };
    // Libraries also return their warnings as errors, which we report. Their debug levels print packets, which may
    // contain secrets that no mask finds.
    let libraries = if min_level <= LogLevel::Debug {
        LevelFilter::WARN
    } else {
        LevelFilter::OFF
    };
    // The name of each of our crates begins with `devgate`. An `EnvFilter` could say the same, but its library makes
    // every regular expression of this program slower to compile.
    let filter = Targets::new()
        .with_default(libraries)
        .with_target("devgate", our_level);
    let lines = lines::layer()
        .with_writer(logger.clone())
        .with_ansi(false)
        .event_format(Plain);
    // A second logger in one process (in tests) keeps the subscriber of the first.
    let _ = tracing_subscriber::registry()
        .with(filter)
        .with(lines)
        .try_init();
}

/// The message, with the name of the library.
struct Plain;

impl<S, N> FormatEvent<S, N> for Plain
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'w> FormatFields<'w> + 'static,
{
    fn format_event(
        &self,
        ctx: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let target = event.metadata().target();
        if !target.starts_with("devgate") {
            write!(writer, "{target}: ")?;
        }
        ctx.format_fields(writer.by_ref(), event)
    }
}

/// Collects the message of an event.
#[derive(Debug)]
pub struct EventWriter {
    logger: Logger,
    level: Level,
}

impl Write for EventWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let (line, length) = (text.trim_end(), line.len());
        let of_run = RUN.try_with(|run| log_line(&**run, self.level, line.to_owned()));
        if of_run.is_err() {
            self.logger.log(self.level, line);
        }
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Logger {
    type Writer = EventWriter;

    fn make_writer(&self) -> EventWriter {
        EventWriter {
            logger: self.clone(),
            level: Level::Debug,
        }
    }

    fn make_writer_for(&self, metadata: &Metadata<'_>) -> EventWriter {
        let level = match *metadata.level() {
            tracing::Level::ERROR => Level::Err,
            tracing::Level::WARN => Level::Warning,
            tracing::Level::INFO => Level::Info,
            tracing::Level::DEBUG | tracing::Level::TRACE => Level::Debug,
        };
        EventWriter {
            logger: self.clone(),
            level,
        }
    }
}
