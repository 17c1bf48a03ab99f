//! Ranges of numbers and sizes: the bounds of types.

/// An inclusive range of integers; the extremes of `i128` mean unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) from: i128,
    pub(super) to: i128,
}

/// An inclusive range of floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Range {
    pub(super) const UNBOUNDED_BELOW: i128 = i128::MIN;
    pub(super) const UNBOUNDED_ABOVE: i128 = i128::MAX;
    pub(super) const ALL: Self = Self {
        from: Self::UNBOUNDED_BELOW,
        to: Self::UNBOUNDED_ABOVE,
    };
    /// Every size.
    pub(super) const SIZES: Self = Self {
        from: 0,
        to: Self::UNBOUNDED_ABOVE,
    };
    pub(super) const ZERO: Self = Self { from: 0, to: 0 };

    /// Creates the range of one number.
    pub(super) fn point(number: i128) -> Self {
        Self {
            from: number,
            to: number,
        }
    }

    /// Creates the range of one size.
    pub(super) fn of_size(size: usize) -> Self {
        Self::point(size as i128)
    }

    pub(super) fn contains(self, number: i128) -> bool {
        self.from <= number && number <= self.to
    }

    pub(super) fn contains_size(self, size: usize) -> bool {
        self.contains(size as i128)
    }

    pub(super) fn covers(self, other: Self) -> bool {
        self.from <= other.from && self.to >= other.to
    }

    pub(super) fn is_finite(self) -> bool {
        self.from != Self::UNBOUNDED_BELOW && self.to != Self::UNBOUNDED_ABOVE
    }

    pub(super) fn hull(self, other: Self) -> Self {
        Self {
            from: self.from.min(other.from),
            to: self.to.max(other.to),
        }
    }

    /// Joins two ranges, if there is no gap between them.
    pub(super) fn merge(self, other: Self) -> Option<Self> {
        let apart =
            self.to.saturating_add(1) < other.from || other.to.saturating_add(1) < self.from;
        (!apart).then(|| self.hull(other))
    }

    /// Returns the range with its bounds raised to zero at least.
    pub(super) fn to_size(self) -> Self {
        Self {
            from: self.from.max(0),
            to: self.to.max(0),
        }
    }
}

impl Interval {
    pub(super) const ALL: Self = Self {
        from: f64::NEG_INFINITY,
        to: f64::INFINITY,
    };

    pub(super) fn contains(self, number: f64) -> bool {
        self.from <= number && number <= self.to
    }

    pub(super) fn covers(self, other: Self) -> bool {
        self.from <= other.from && self.to >= other.to
    }

    pub(super) fn hull(self, other: Self) -> Self {
        Self {
            from: self.from.min(other.from),
            to: self.to.max(other.to),
        }
    }

    /// Joins two intervals, if they touch.
    pub(super) fn merge(self, other: Self) -> Option<Self> {
        (!(self.to < other.from || other.to < self.from)).then(|| self.hull(other))
    }
}
