//! The five timers.
#![no_std]
