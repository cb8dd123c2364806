//! What the ends of all channels are: an end of tokio's, `inner`, and the `hook` that it shares with the others.

/// Ends become tokio's.
macro_rules! into_tokios {
    ($module:ident: $($type:ident)*) => { $(
        impl<T> From<$type<T>> for tokio::sync::$module::$type<T> {
            fn from(ours: $type<T>) -> tokio::sync::$module::$type<T> {
                ours.inner
            }
        }
    )* };
}

/// Methods that are tokio's.
macro_rules! as_tokios {
    ($module:ident::$type:ident: $(fn $name:ident(&self) -> $result:ty;)*) => {
        impl<T> $type<T> {
            $(
                #[doc = concat!("See [`tokio::sync::", stringify!($module), "::", stringify!($type), "::", stringify!($name), "`].")]
                pub fn $name(&self) -> $result {
                    self.inner.$name()
                }
            )*
        }
    };
}

/// As tokio's print themselves.
macro_rules! as_it_shows {
    ($type:ident $(, $bound:path)?) => {
        impl<T $(: $bound)?> std::fmt::Debug for $type<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.inner.fmt(f)
            }
        }
    };
}

/// For each handle one more.
macro_rules! clones {
    ($type:ident) => {
        impl<T> Clone for $type<T> {
            fn clone(&self) -> Self {
                $type { hook: std::sync::Arc::clone(&self.hook), inner: self.inner.clone() }
            }
        }
    };
}

pub(super) use {as_it_shows, as_tokios, clones, into_tokios};
