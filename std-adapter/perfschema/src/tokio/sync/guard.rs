//! What the guards of several locks have in common, written once.

/// `map` and `try_map` of a guard: tokio's, and the mark stays with what comes of it. `extra` are fields that only this guard has. Where
/// tokio has which type parameter is said first: a program may name them.
macro_rules! maps {
    (<$($order:ident),*> $guard:ident $(, $extra:ident)? => $mapped:ident<U $(: ?$sized:ident)?>, $mark:ident, &$($mutable:ident)?) => {
        impl<'a, T: ?Sized> $guard<'a, T> {
            #[doc = concat!("See [`tokio::sync::", stringify!($guard), "::map`].")]
            pub fn map<$($order),*>(this: Self, f: F) -> $mapped<'a, U>
            where
                $(U: ?$sized,)?
                F: FnOnce(&$($mutable)? T) -> &$($mutable)? U,
            {
                let $guard { mark, inner, .. } = this;
                let mut kept = $mark::NONE;
                let inner = tokio::sync::$guard::map(inner, $crate::tokio::sync::guard::keep!(f, mark => kept));
                $mapped { mark: kept, inner }
            }

            #[doc = concat!("See [`tokio::sync::", stringify!($guard), "::try_map`].")]
            ///
            /// # Errors
            /// The guard, if `f` returns None.
            pub fn try_map<$($order),*>(this: Self, f: F) -> Result<$mapped<'a, U>, Self>
            where
                $(U: ?$sized,)?
                F: FnOnce(&$($mutable)? T) -> Option<&$($mutable)? U>,
            {
                let $guard { mark, inner $(, $extra)? } = this;
                let mut kept = $mark::NONE;
                match tokio::sync::$guard::try_map(inner, $crate::tokio::sync::guard::keep!(f, mark => kept)) {
                    Ok(inner) => Ok($mapped { mark: kept, inner }),
                    Err(inner) => Err($guard { mark: kept, inner $(, $extra)? }),
                }
            }
        }
    };
}

/// `f`, which has the mark while it runs: if it panics, that goes before the lock does.
macro_rules! keep {
    ($f:ident, $mark:ident => $kept:ident) => {
        |value| {
            let mapped = $f(value);
            $kept = $mark;
            mapped
        }
    };
}

/// The same for a guard that owns one of these.
macro_rules! owned_maps {
    (<$($order:ident),*> $owned:ident<$($param:ident),*>, $guard:ident<$value:ident> => $mapped:ident<V $(: ?$sized:ident)?>, &$($mutable:ident)?) => {
        impl<$($param: ?Sized + 'static),*> $owned<$($param),*> {
            #[doc = concat!("See [`tokio::sync::", stringify!($owned), "::map`].")]
            pub fn map<$($order),*>(this: Self, f: F) -> $mapped<T, V>
            where
                V: 'static $(+ ?$sized)?,
                F: FnOnce(&$($mutable)? $value) -> &$($mutable)? V,
            {
                $mapped { inner: this.inner.map(|guard| $guard::map(guard, f)) }
            }

            #[doc = concat!("See [`tokio::sync::", stringify!($owned), "::try_map`].")]
            ///
            /// # Errors
            /// The guard, if `f` returns None.
            pub fn try_map<$($order),*>(this: Self, f: F) -> Result<$mapped<T, V>, Self>
            where
                V: 'static $(+ ?$sized)?,
                F: FnOnce(&$($mutable)? $value) -> Option<&$($mutable)? V>,
            {
                let mapped = this.inner.try_map(|guard| $guard::try_map(guard, f));
                mapped.map(|inner| $mapped { inner }).map_err(|inner| $owned { inner })
            }
        }
    };
}

pub(super) use {keep, maps, owned_maps};
