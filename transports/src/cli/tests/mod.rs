//! What the engine promises, tried on devices that behave as badly as real ones.

mod configuring;
mod ending;
mod opening;
