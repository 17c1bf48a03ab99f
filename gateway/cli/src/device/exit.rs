//! Exit codes of device runs, after `puppet device --detailed-exitcodes`.

use clap::Args;
use devgate_core::results::Status;
use devgate_engine::operations::Changes;
use devgate_engine::run::RunSummary;
use devgate_front::exit_status::ExitStatus;
use devgate_front::follow;

/// What the exit code reports.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct ExitCodes {
    /// Exit with the sum of 1 (a device failed), 2 (changes), 4 (resources failed)
    #[arg(long)]
    detailed_exitcodes: bool,
    /// Exit like Puppet: 0 even if resources failed or changed, 1 for other errors
    #[arg(long)]
    puppet_exitcodes: bool,
    /// With --noop: exit with 2 if something would change; --detailed-exitcodes adds 2 to the sum
    #[arg(long, requires = "noop")]
    exit_code_on_drift: bool,
}

/// A target failed, but not because of its resources.
const FAILURE: u8 = 1;
/// Resources were changed, or would be changed with --exit-code-on-drift.
const CHANGES: u8 = 2;
/// Resources could not be brought to the desired state.
const RESOURCE_FAILURES: u8 = 4;

impl ExitCodes {
    /// The exit status of the run.
    pub(super) fn exit_status(self, summary: &RunSummary, changes: Changes) -> ExitStatus {
        let exit_status = follow::exit_status(summary);
        if let ExitStatus::Interrupted(_) = exit_status {
            return exit_status;
        }
        let failed = summary.statuses.iter();
        let failed = failed.filter(|(_, status)| *status == Status::Failure);
        let mut bits = 0;
        for (applies, bit) in [
            (failed.count() > changes.by_resources, FAILURE),
            (changes.changed, CHANGES),
            (changes.failed, RESOURCE_FAILURES),
        ] {
            bits |= if applies { bit } else { 0 };
        }
        let drifted = self.exit_code_on_drift && changes.drifted;
        if self.puppet_exitcodes {
            bits &= FAILURE;
        } else if !self.detailed_exitcodes {
            return match exit_status {
                ExitStatus::Success if drifted => ExitStatus::Code(CHANGES),
                exit_status => exit_status,
            };
        }
        if drifted && (bits == 0 || !self.puppet_exitcodes) {
            bits |= CHANGES;
        }
        match bits {
            0 => ExitStatus::Success,
            bits => ExitStatus::Code(bits),
        }
    }
}

/// Returns the exit status of a run whose log was lost.
pub(super) fn with_lost_log(exit_status: ExitStatus) -> ExitStatus {
    match exit_status {
        ExitStatus::Success => ExitStatus::Failure,
        ExitStatus::Code(code) => ExitStatus::Code(code | FAILURE),
        ExitStatus::Failure | ExitStatus::Interrupted(_) => exit_status,
    }
}

#[cfg(test)]
mod tests {
    use devgate_schemas::{Report, ResourceReport, Summary};

    use super::*;

    fn summary(statuses: Vec<(String, Status)>) -> RunSummary {
        let reason = None;
        RunSummary { statuses, reason }
    }

    /// The exit status of a run on targets with these numbers of changed and failed resources.
    fn exit_status(
        detailed: bool,
        puppet: bool,
        targets: &[(usize, usize)],
        down: usize,
    ) -> ExitStatus {
        let codes = ExitCodes {
            detailed_exitcodes: detailed,
            puppet_exitcodes: puppet,
            exit_code_on_drift: false,
        };
        let mut changes = Changes::default();
        let mut statuses = Vec::new();
        for &(changed, failed) in targets {
            let changes_of_target = Summary {
                changed,
                failed,
                ..Summary::default()
            };
            let report = Report {
                summary: changes_of_target,
                ..Report::default()
            };
            changes = changes.with(&report, false);
            let status = [Status::Success, Status::Failure][usize::from(failed > 0)];
            statuses.push((String::new(), status));
        }
        statuses.extend(vec![(String::new(), Status::Failure); down]);
        codes.exit_status(&summary(statuses), changes)
    }

    #[test]
    fn detailed_codes_are_the_sum_over_all_devices() {
        let detailed = |targets: &[(usize, usize)], down| exit_status(true, false, targets, down);
        assert_eq!(detailed(&[(0, 0)], 0), ExitStatus::Success);
        assert_eq!(detailed(&[(3, 0), (0, 0)], 0), ExitStatus::Code(2));
        assert_eq!(detailed(&[(0, 1)], 0), ExitStatus::Code(4));
        assert_eq!(detailed(&[(1, 0), (0, 1)], 0), ExitStatus::Code(6));
        assert_eq!(detailed(&[(1, 1)], 1), ExitStatus::Code(7));
        assert_eq!(detailed(&[], 1), ExitStatus::Code(1));
    }

    #[test]
    fn without_them_a_failed_resource_fails_the_run_unless_puppet_s_codes_are_wanted() {
        let plain = |targets: &[(usize, usize)], down| exit_status(false, false, targets, down);
        assert_eq!(plain(&[(1, 0)], 0), ExitStatus::Success);
        assert_eq!(plain(&[(0, 1)], 0), ExitStatus::Failure);
        for detailed in [false, true] {
            assert_eq!(
                exit_status(detailed, true, &[(1, 1)], 0),
                ExitStatus::Success
            );
            assert_eq!(
                exit_status(detailed, true, &[(0, 1)], 1),
                ExitStatus::Code(1)
            );
        }
    }
    #[test]
    fn drift_has_its_own_code_if_requested() {
        let status_of = |drift, detailed, puppet, failed| {
            let codes = ExitCodes {
                detailed_exitcodes: detailed,
                puppet_exitcodes: puppet,
                exit_code_on_drift: drift,
            };
            let mut report = Report::default();
            report.resources.push(ResourceReport {
                noop: true,
                ..ResourceReport::default()
            });
            let changes = Changes::default().with(&report, failed);
            let status = [Status::Success, Status::Failure][usize::from(failed)];
            codes.exit_status(&summary(vec![(String::new(), status)]), changes)
        };
        assert_eq!(status_of(false, true, false, false), ExitStatus::Success);
        for (detailed, puppet) in [(false, false), (true, false), (false, true)] {
            assert_eq!(
                status_of(true, detailed, puppet, false),
                ExitStatus::Code(2)
            );
        }
        assert_eq!(status_of(true, false, false, true), ExitStatus::Failure);
        assert_eq!(status_of(true, true, false, true), ExitStatus::Code(3));
        assert_eq!(status_of(true, false, true, true), ExitStatus::Code(1));
    }
}
