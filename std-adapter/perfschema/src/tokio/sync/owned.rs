//! Guards that keep the `Arc` of what they guard.
//!
//! tokio's own keep the `Arc` of a lock of tokio's, and here that of tokio's lies within another one. So these are the guards that borrow,
//! with the `Arc` beside them.

use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::Arc;

/// A guard of what is in the `Arc`, which goes before the `Arc` does.
pub(super) struct Owned<G, L: ?Sized> {
    // MaybeUninit: it refers to what may be freed in the middle of a call that this is given to, which what refers must not, unless the
    // compiler does not see that it does. It is there until this is dropped.
    guard: MaybeUninit<G>,
    lock: Arc<L>,
}

/// What is in the `Arc`, for as long as one likes.
///
/// # Safety
/// It is not used any more, and what comes of it has gone, when this `Arc` goes: as that does which is kept with it in an [`Owned`].
pub(super) unsafe fn forever<L: ?Sized>(lock: &Arc<L>) -> &'static L {
    // SAFETY: it stays where it is while there is an `Arc`.
    unsafe { &*Arc::as_ptr(lock) }
}

impl<G, L: ?Sized> Owned<G, L> {
    /// A guard and its `Arc`.
    pub(super) const fn new(guard: G, lock: Arc<L>) -> Owned<G, L> {
        Owned { guard: MaybeUninit::new(guard), lock }
    }

    /// What is guarded.
    pub(super) fn lock(&self) -> &Arc<L> {
        &self.lock
    }

    /// Another guard, made of this one.
    pub(super) fn map<N>(self, map: impl FnOnce(G) -> N) -> Owned<N, L> {
        self.try_map(|guard| Ok(map(guard))).unwrap_or_else(|_| unreachable!("it was mapped"))
    }

    /// The same, or this one again.
    pub(super) fn try_map<N>(self, map: impl FnOnce(G) -> Result<N, G>) -> Result<Owned<N, L>, Owned<G, L>> {
        let this = ManuallyDrop::new(self);
        // SAFETY: each is read once, and `this` is not dropped. The lock comes first, so that it goes last if `map` panics.
        let (lock, guard) = unsafe { (ptr::read(&this.lock), ptr::read(&this.guard).assume_init()) };
        match map(guard) {
            Ok(guard) => Ok(Owned::new(guard, lock)),
            Err(guard) => Err(Owned::new(guard, lock)),
        }
    }
}

impl<G, L: ?Sized> Drop for Owned<G, L> {
    fn drop(&mut self) {
        // SAFETY: it is there, and this happens once. The lock goes after this.
        unsafe { self.guard.assume_init_drop() };
    }
}

impl<G, L: ?Sized> Deref for Owned<G, L> {
    type Target = G;

    fn deref(&self) -> &G {
        // SAFETY: it is there.
        unsafe { self.guard.assume_init_ref() }
    }
}

impl<G, L: ?Sized> DerefMut for Owned<G, L> {
    fn deref_mut(&mut self) -> &mut G {
        // SAFETY: it is there.
        unsafe { self.guard.assume_init_mut() }
    }
}
