//! What a program does with locks and channels, told with tokio's and with ours.

macro_rules! stories {
    ($($module:ident: $($sync:ident)::+;)*) => { $(
        pub(crate) mod $module {
            use crate::common::Story;
            use $($sync)::+ as sync;
            use std::panic::{AssertUnwindSafe, catch_unwind};
            use std::pin::pin;
            use std::sync::Arc;
            use std::task::{Context, Poll, Waker};
            use std::time::Duration;

            static LOCK: sync::Mutex<u32> = sync::Mutex::const_new(7);
            static BOOK: sync::RwLock<u32> = sync::RwLock::const_new(8);
            static FEW: sync::RwLock<u32> = sync::RwLock::const_with_max_readers(9, 2);
            static PERMITS: sync::Semaphore = sync::Semaphore::const_new(10);
            static CELL: sync::OnceCell<u32> = sync::OnceCell::const_new_with(11);
            static SET: sync::SetOnce<u32> = sync::SetOnce::const_new_with(12);
            static NEVER: (sync::OnceCell<u32>, sync::SetOnce<u32>) = (sync::OnceCell::const_new(), sync::SetOnce::const_new());
            static WORK: sync::Notify = sync::Notify::const_new();

            /// One poll.
            macro_rules! once {
                ($future:expr) => { $future.as_mut().poll(&mut Context::from_waker(Waker::noop())) };
            }

            pub(crate) async fn tell() -> Story {
                let mut story = Story::default();
                mutexes(&mut story).await;
                rwlocks(&mut story).await;
                semaphores(&mut story).await;
                notifies(&mut story).await;
                once(&mut story).await;
                watches(&mut story).await;
                channels(&mut story).await;
                oneshots(&mut story).await;
                broadcasts(&mut story).await;
                panics(&mut story).await;
                story
            }

            async fn mutexes(story: &mut Story) {
                story.tell((*LOCK.lock().await, &LOCK, sync::Mutex::<u8>::default(), sync::Mutex::from("text")));
                let mut lock = sync::Mutex::new(vec![1, 2]);
                lock.get_mut().push(3);
                let guard = lock.try_lock().unwrap();
                story.tell((&guard, &lock, sync::MutexGuard::mutex(&guard), lock.try_lock().map(drop)));
                story.tell(lock.try_lock().unwrap_err().to_string());
                let mut mapped = sync::MutexGuard::map(guard, |list| &mut list[1]);
                *mapped += 5;
                story.tell((&mapped, format!("{mapped}")));
                let mapped = sync::MappedMutexGuard::try_map(mapped, |_| None::<&mut u8>).unwrap_err();
                let mapped = sync::MappedMutexGuard::map(mapped, |number| number);
                story.tell(lock.try_lock().is_err());
                drop(sync::MappedMutexGuard::try_map(mapped, |number| Some(number)).unwrap());
                let guard = sync::MutexGuard::try_map(lock.lock().await, |_| None::<&mut u8>).unwrap_err();
                story.tell(&guard);
                story.tell(&sync::MutexGuard::try_map(guard, |list| list.first_mut()).unwrap());
                let lock = Arc::new(lock);
                let owned = Arc::clone(&lock).lock_owned().await;
                story.tell((&owned, Arc::ptr_eq(sync::OwnedMutexGuard::mutex(&owned), &lock), Arc::strong_count(&lock)));
                story.tell(Arc::clone(&lock).try_lock_owned().map(drop));
                let mut waits = pin!(Arc::clone(&lock).lock_owned());
                let mut too = Box::pin(lock.lock());
                story.tell((once!(waits).is_pending(), once!(too).is_pending()));
                drop(owned);
                // Given up, although it was its turn.
                drop(too);
                let Poll::Ready(mut owned) = once!(waits) else { panic!("it is free") };
                owned.push(4);
                let mapped = sync::OwnedMutexGuard::map(owned, |list| &mut list[..]);
                story.tell((&mapped, lock.try_lock().is_err()));
                let mapped = sync::OwnedMappedMutexGuard::map(mapped, |list| &mut list[0]);
                let mapped = sync::OwnedMappedMutexGuard::try_map(mapped, |_| None::<&mut u8>).unwrap_err();
                story.tell((&mapped, format!("{mapped}"), Arc::strong_count(&lock)));
                drop(mapped);
                let owned = Arc::clone(&lock).try_lock_owned().unwrap();
                let owned = sync::OwnedMutexGuard::try_map(owned, |_| None::<&mut u8>).unwrap_err();
                drop(sync::OwnedMutexGuard::try_map(owned, |list| list.last_mut()).unwrap());
                let other = Arc::clone(&lock);
                let blocking = move || {
                    let length = other.blocking_lock().len();
                    (length, other.blocking_lock_owned().len())
                };
                story.tell(tokio::task::spawn_blocking(blocking).await.unwrap());
                story.tell(Arc::try_unwrap(lock).unwrap().into_inner());
                // Its value need not live for ever, nor have a size.
                let text = String::from("borrowed");
                let unsized_: &sync::Mutex<[&str]> = &sync::Mutex::new([text.as_str(), "x"]);
                unsized_.lock().await[1] = &text[1..];
                story.tell(unsized_);
                let owner: Arc<sync::Mutex<[u8]>> = Arc::new(sync::Mutex::new([1, 2]));
                story.tell(owner.lock_owned().await.len());
            }

            async fn rwlocks(story: &mut Story) {
                let read = *BOOK.read().await;
                story.tell((&BOOK, read, *BOOK.write().await, sync::RwLock::<u8>::default(), sync::RwLock::from(3)));
                let few = (FEW.try_read(), FEW.try_read());
                story.tell((few.0.is_ok(), few.1.is_ok(), FEW.try_read().is_ok(), FEW.try_write().is_ok()));
                drop(few);
                let mut lock = sync::RwLock::with_max_readers((1, "one"), 5);
                lock.get_mut().0 += 1;
                let (one, two) = (lock.read().await, lock.try_read().unwrap());
                let mut writer = Box::pin(lock.write());
                // Who waits for writing keeps others from reading.
                story.tell((once!(writer).is_pending(), lock.try_read().is_ok(), lock.try_write().map(drop)));
                let name = sync::RwLockReadGuard::map(one, |pair| pair.1);
                let name = sync::RwLockReadGuard::try_map(name, |_| None::<&u8>).unwrap_err();
                story.tell((format!("{name}"), sync::RwLockReadGuard::try_map(two, |pair| Some(&pair.0)).unwrap()));
                drop(name);
                let Poll::Ready(mut guard) = once!(writer) else { panic!("nobody reads") };
                drop(writer);
                guard.0 += 1;
                story.tell((&guard, lock.try_read().map(drop)));
                let reader = guard.downgrade();
                story.tell((&reader, &*lock.try_read().unwrap(), lock.try_write().is_ok()));
                drop(reader);
                let guard = sync::RwLockWriteGuard::try_map(lock.write().await, |_| None::<&mut u8>).unwrap_err();
                let guard = sync::RwLockWriteGuard::try_downgrade_map(guard, |_| None::<&u8>).unwrap_err();
                story.tell(lock.try_read().is_ok());
                let mut mapped = sync::RwLockWriteGuard::map(guard, |pair| &mut pair.0);
                *mapped += 1;
                let mapped = sync::RwLockMappedWriteGuard::try_map(mapped, |_| None::<&mut u8>).unwrap_err();
                let mapped = sync::RwLockMappedWriteGuard::map(mapped, |number| number);
                story.tell((&mapped, lock.try_read().is_ok()));
                drop(sync::RwLockMappedWriteGuard::try_map(mapped, |number| Some(number)).unwrap());
                drop(sync::RwLockWriteGuard::try_map(lock.write().await, |pair| Some(&mut pair.0)).unwrap());
                let reader = sync::RwLockWriteGuard::downgrade_map(lock.write().await, |pair| &pair.0);
                story.tell((&reader, lock.try_read().is_ok(), lock.try_write().is_ok()));
                drop(reader);
                let reader = sync::RwLockWriteGuard::try_downgrade_map(lock.write().await, |pair| Some(&pair.1)).unwrap();
                story.tell((&reader, lock.try_read().is_ok(), lock.try_write().is_ok()));
                drop(reader);
                story.tell(sync::RwLockWriteGuard::into_mapped(lock.write().await));
                let lock = Arc::new(lock);
                let (one, two) = (Arc::clone(&lock).read_owned().await, Arc::clone(&lock).try_read_owned().unwrap());
                story.tell((&one, Arc::ptr_eq(sync::OwnedRwLockReadGuard::rwlock(&two), &lock), lock.try_write().is_ok()));
                story.tell(Arc::clone(&lock).try_write_owned().map(drop));
                let name = sync::OwnedRwLockReadGuard::map(one, |pair| pair.1);
                let name = sync::OwnedRwLockReadGuard::try_map(name, |_| None::<&u8>).unwrap_err();
                story.tell((format!("{name}"), sync::OwnedRwLockReadGuard::try_map(two, |pair| Some(&pair.0)).unwrap()));
                drop(name);
                let mut owned = Arc::clone(&lock).write_owned().await;
                owned.0 += 1;
                story.tell((&owned, Arc::ptr_eq(sync::OwnedRwLockWriteGuard::rwlock(&owned), &lock)));
                story.tell(Arc::clone(&lock).try_read_owned().map(drop));
                let owned = sync::OwnedRwLockWriteGuard::try_downgrade_map(owned, |_| None::<&u8>).unwrap_err();
                let owned = sync::OwnedRwLockWriteGuard::try_map(owned, |_| None::<&mut u8>).unwrap_err();
                let owned = owned.downgrade();
                story.tell((&owned, lock.try_read().is_ok(), lock.try_write().is_ok()));
                drop(owned);
                let write = || Arc::clone(&lock).try_write_owned().unwrap();
                story.tell(sync::OwnedRwLockWriteGuard::downgrade_map(write(), |pair| &pair.1));
                story.tell(sync::OwnedRwLockWriteGuard::try_downgrade_map(write(), |pair| Some(&pair.1)).unwrap());
                story.tell(sync::OwnedRwLockWriteGuard::try_map(write(), |pair| Some(&mut pair.0)).unwrap());
                story.tell(sync::OwnedRwLockWriteGuard::into_mapped(write()));
                let mapped = sync::OwnedRwLockWriteGuard::map(write(), |pair| &mut pair.0);
                let mapped = sync::OwnedRwLockMappedWriteGuard::try_map(mapped, |_| None::<&mut u8>).unwrap_err();
                let mut mapped = sync::OwnedRwLockMappedWriteGuard::map(mapped, |number| number);
                *mapped += 1;
                let mapped = sync::OwnedRwLockMappedWriteGuard::try_map(mapped, |number| Some(number)).unwrap();
                story.tell((&mapped, Arc::ptr_eq(sync::OwnedRwLockMappedWriteGuard::rwlock(&mapped), &lock)));
                drop(mapped);
                let other = Arc::clone(&lock);
                let blocking = move || {
                    let number = other.blocking_read().0;
                    (number, other.blocking_write().1)
                };
                story.tell(tokio::task::spawn_blocking(blocking).await.unwrap());
                story.tell((Arc::strong_count(&lock), Arc::try_unwrap(lock).unwrap().into_inner()));
            }

            async fn semaphores(story: &mut Story) {
                story.tell((&PERMITS, PERMITS.available_permits(), sync::Semaphore::MAX_PERMITS));
                let semaphore = Arc::new(sync::Semaphore::new(3));
                let mut permit = semaphore.acquire_many(2).await.unwrap();
                story.tell((permit.num_permits(), semaphore.try_acquire_many(2).map(drop), semaphore.available_permits()));
                permit.merge(semaphore.try_acquire().unwrap());
                let mut waits = Box::pin(semaphore.acquire());
                story.tell((once!(waits).is_pending(), permit.split(9).is_none()));
                drop(permit.split(1));
                story.tell((once!(waits).is_ready(), permit.num_permits(), semaphore.available_permits()));
                drop(waits);
                permit.forget();
                semaphore.add_permits(1);
                story.tell((semaphore.forget_permits(5), semaphore.available_permits()));
                semaphore.add_permits(4);
                let mut owned = Arc::clone(&semaphore).acquire_many_owned(2).await.unwrap();
                story.tell((owned.num_permits(), Arc::ptr_eq(owned.semaphore(), &semaphore), Arc::strong_count(&semaphore)));
                owned.merge(Arc::clone(&semaphore).acquire_owned().await.unwrap());
                story.tell((owned.split(9).is_none(), Arc::clone(&semaphore).try_acquire_many_owned(2).map(drop)));
                let part = owned.split(2).unwrap();
                story.tell((owned.num_permits(), part.num_permits(), semaphore.available_permits()));
                drop(part);
                owned.forget();
                story.tell(semaphore.available_permits());
                drop(Arc::clone(&semaphore).try_acquire_owned().unwrap());
                let other = Arc::clone(&semaphore);
                let blocking = move || {
                    drop((other.blocking_acquire().unwrap(), other.blocking_acquire_many(2).unwrap()));
                    drop(Arc::clone(&other).blocking_acquire_many_owned(2).unwrap());
                    other.blocking_acquire_owned().unwrap().forget();
                };
                tokio::task::spawn_blocking(blocking).await.unwrap();
                let mut waits = pin!(Arc::clone(&semaphore).acquire_many_owned(5));
                story.tell((semaphore.available_permits(), once!(waits).is_pending(), semaphore.is_closed()));
                semaphore.close();
                story.tell((once!(waits).map(|result| result.map(drop)), semaphore.is_closed(), semaphore.acquire().await.map(drop)));
                story.tell((semaphore.try_acquire().map(drop), semaphore.available_permits(), Arc::strong_count(&semaphore)));
            }

            async fn notifies(story: &mut Story) {
                WORK.notify_one();
                WORK.notified().await;
                let notify = Arc::new(sync::Notify::default());
                let (mut one, mut two) = (Box::pin(notify.notified()), Box::pin(notify.notified()));
                story.tell((once!(one), once!(two)));
                notify.notify_one();
                story.tell((once!(two), once!(one), once!(one), one.as_mut().enable()));
                notify.notify_waiters();
                story.tell(once!(two));
                let mut three = Box::pin(notify.notified());
                story.tell((three.as_mut().enable(), notify.notify_last(), three.as_mut().enable(), once!(three)));
                let mut owned = Box::pin(Arc::clone(&notify).notified_owned());
                story.tell((once!(owned), owned.as_mut().enable(), Arc::strong_count(&notify)));
                let mut four = Box::pin(notify.notified());
                story.tell(once!(four));
                notify.notify_one();
                // It was notified, and passes that on.
                drop(owned);
                story.tell((once!(four), Arc::strong_count(&notify)));
                let (mut first, mut last) = (Box::pin(notify.notified()), Box::pin(notify.notified()));
                story.tell((once!(first), once!(last)));
                notify.notify_last();
                story.tell((once!(first), once!(last)));
            }

            async fn once(story: &mut Story) {
                story.tell((&CELL, &SET, &NEVER, CELL.get_or_init(async || 1).await, SET.wait().await));
                let (mut cell, failed) = (sync::OnceCell::new(), async || Err::<String, _>("failed"));
                story.tell((&cell.clone(), cell.get_mut()));
                story.tell((&cell, cell.initialized(), cell.get_or_try_init(failed).await, cell.get()));
                let (go, gone) = tokio::sync::oneshot::channel::<()>();
                let mut makes = Box::pin(cell.get_or_init(|| async { gone.await.map_or("made", |()| "sent").to_owned() }));
                let mut waits = Box::pin(cell.get_or_try_init(failed));
                let mut given_up = Box::pin(cell.get_or_init(async || unreachable!()));
                story.tell((once!(makes), once!(waits), once!(given_up), cell.get(), cell.set("set".to_owned())));
                drop(given_up);
                drop(go);
                story.tell((once!(waits).is_pending(), once!(makes), once!(waits), cell.set("set".to_owned()), &cell));
                drop((makes, waits));
                story.tell(cell.set("again".to_owned()).map_err(|error| (error.to_string(), error.is_already_init_err())));
                cell.get_mut().unwrap().push('!');
                story.tell((cell == cell.clone(), cell == sync::OnceCell::from("made".to_owned()), cell.clone().into_inner()));
                story.tell((cell.take(), cell.initialized(), cell.set("set".to_owned()), cell.into_inner()));
                // Who was to make it is gone, and the next one does.
                let cell = sync::OnceCell::new_with(None);
                let mut gone = Box::pin(cell.get_or_init(std::future::pending::<u8>));
                let mut next = Box::pin(cell.get_or_init(async || 2));
                story.tell((once!(gone), once!(next)));
                drop(gone);
                story.tell((once!(next), sync::OnceCell::new_with(Some(2)) == cell, sync::OnceCell::<u8>::default() == cell));

                let set = sync::SetOnce::new();
                let (mut waits, mut given_up) = (Box::pin(set.wait()), Box::pin(set.wait()));
                story.tell((&set, set.get(), set.initialized(), once!(waits), once!(given_up), &set.clone()));
                drop(given_up);
                story.tell((set.set('a'), set.set('b'), set.set('b').map_err(|error| error.to_string()), once!(waits), set.get()));
                drop(waits);
                story.tell((set.wait().await, set == set.clone(), set == sync::SetOnce::from('b'), set.clone().into_inner()));
                story.tell((sync::SetOnce::new_with(None) == set, sync::SetOnce::new_with(Some('a')) == set, set.into_inner()));
                story.tell((sync::SetOnce::<u8>::default().into_inner(), sync::SetOnce::<u8>::const_new()));
                // Their values need not live for ever.
                let text = String::from("borrowed");
                let (cell, set) = (sync::OnceCell::new(), sync::SetOnce::new());
                story.tell((cell.get_or_init(async || &text[1..]).await, set.set(&text[..1]), set.wait().await));
            }

            async fn watches(story: &mut Story) {
                use sync::watch;
                let (sender, mut receiver) = watch::channel(1);
                story.tell((&sender, &receiver, watch::Sender::<u8>::default(), watch::Sender::new('a').receiver_count()));
                story.tell((receiver.has_changed(), receiver.is_closed(), sender.is_closed(), sender.receiver_count()));
                let mut waits = Box::pin(receiver.changed());
                story.tell(once!(waits));
                story.tell((sender.send(2), once!(waits)));
                drop(waits);
                story.tell((receiver.borrow(), receiver.borrow().has_changed(), sender.borrow().has_changed()));
                let mut given_up = Box::pin(receiver.changed());
                story.tell(once!(given_up));
                story.tell(sender.send_replace(3));
                drop(given_up);
                story.tell((receiver.has_changed(), receiver.borrow()));
                story.tell(receiver.borrow_and_update());
                story.tell(receiver.has_changed());
                receiver.mark_changed();
                story.tell((&receiver, receiver.has_changed()));
                story.tell(once!(Box::pin(receiver.changed())));
                story.tell(receiver.has_changed());
                story.tell((sender.send_if_modified(|number| std::mem::take(number) == 4), receiver.has_changed(), receiver.borrow()));
                sender.send_modify(|number| *number += 4);
                let mut other = receiver.clone();
                other.mark_unchanged();
                story.tell((receiver.has_changed(), other.has_changed(), sender.subscribe().has_changed(), sender.receiver_count()));
                story.tell((receiver.same_channel(&other), other.same_channel(&watch::channel(1).1)));
                let mut waits = Box::pin(receiver.wait_for(|&number| number > 5));
                story.tell(once!(waits).is_pending());
                story.tell((sender.send(5), once!(waits).is_pending(), sender.send(6)));
                story.tell(once!(waits).map(|result| result.map(|number| (*number, number.has_changed()))));
                drop(waits);
                story.tell(receiver.wait_for(|&number| number == 6).await);
                let again = sender.clone();
                story.tell((again.sender_count(), again.same_channel(&sender), again.same_channel(&watch::Sender::new(1))));
                drop((sender, receiver));
                let mut closed = Box::pin(again.closed());
                story.tell((once!(closed), again.is_closed()));
                let mut last = Box::pin(other.wait_for(|_| false));
                story.tell(once!(last).is_pending());
                drop(last);
                story.tell((again.send(7), other.changed().await));
                drop(other);
                story.tell((once!(closed), again.is_closed(), again.send(8), again.send(8).map_err(|error| error.to_string())));
                drop(closed);
                let mut late = again.subscribe();
                again.send(9).unwrap();
                drop(again);
                story.tell((late.has_changed().map_err(|error| error.to_string()), late.is_closed(), late.changed().await));
                story.tell((late.changed().await, late.wait_for(|&number| number == 9).await.map(|number| *number)));
                story.tell(late.wait_for(|_| false).await.map(drop));
                // Its value need not live for ever.
                let text = String::from("borrowed");
                let (sender, mut receiver) = watch::channel(&text[..1]);
                sender.send(&text[1..]).unwrap();
                story.tell((receiver.changed().await, *receiver.borrow()));
            }

            async fn channels(story: &mut Story) {
                use sync::mpsc;
                let (sender, mut receiver) = mpsc::channel(2);
                story.tell((receiver.is_empty(), receiver.try_recv(), sender.capacity(), receiver.max_capacity(), sender.max_capacity()));
                sender.send(1).await.unwrap();
                sender.try_send(2).unwrap();
                story.tell((sender.try_send(3), receiver.len(), receiver.capacity(), receiver.is_closed(), sender.is_closed()));
                let mut waits = Box::pin(sender.send(3));
                story.tell(once!(waits));
                story.tell(receiver.recv().await);
                story.tell(once!(waits));
                drop(waits);
                let mut given_up = Box::pin(sender.reserve());
                story.tell(once!(given_up).is_pending());
                drop(given_up);
                // There is no room, and then there is.
                story.tell(sender.send_timeout(0, Duration::ZERO).await.map_err(|error| error.to_string()));
                let mut messages = Vec::new();
                story.tell((receiver.recv_many(&mut messages, 9).await, messages));
                sender.reserve().await.unwrap().send(4);
                sender.send_timeout(5, Duration::from_secs(3600)).await.unwrap();
                story.tell((sender.try_reserve().map(drop), sender.try_reserve_many(1).map(drop)));
                story.tell((receiver.recv().await, receiver.recv().await));
                sender.reserve_many(2).await.unwrap().zip(6..).for_each(|(permit, number)| permit.send(number));
                let full = sender.clone().try_reserve_owned().unwrap_err();
                story.tell((full.to_string(), receiver.recv().await, receiver.recv().await));
                let permit = sender.clone().reserve_owned().await.unwrap();
                let of_another = permit.same_channel_as_sender(&mpsc::channel(1).0);
                story.tell((permit.same_channel_as_sender(&sender), of_another, sender.strong_count(), sender.weak_count()));
                let other = permit.send(8);
                let permit = other.try_reserve_owned().unwrap();
                let other = permit.release();
                story.tell((other.same_channel(&sender), receiver.recv().await, receiver.sender_strong_count()));
                let weak = other.downgrade();
                story.tell((&weak, weak.clone().strong_count(), weak.weak_count(), receiver.sender_weak_count()));
                drop(other);
                weak.upgrade().unwrap().send(9).await.unwrap();
                let (other, blocking) = (sender.clone(), move || sender.blocking_send(10));
                tokio::task::spawn_blocking(blocking).await.unwrap().unwrap();
                let mut cx = Context::from_waker(Waker::noop());
                story.tell((receiver.poll_recv(&mut cx), receiver.poll_recv_many(&mut cx, &mut vec![], 3), receiver.poll_recv(&mut cx)));
                receiver.close();
                other.closed().await;
                story.tell((other.send(11).await, other.is_closed(), other.reserve().await.map(drop), receiver.recv().await));
                drop(other);
                story.tell((weak.upgrade().is_some(), receiver.recv().await));
                let blocking = move || (receiver.blocking_recv(), receiver.blocking_recv_many(&mut vec![], 1));
                story.tell(tokio::task::spawn_blocking(blocking).await.unwrap());

                let (sender, mut receiver) = mpsc::unbounded_channel();
                sender.send("one").unwrap();
                let mut recv = Box::pin(receiver.recv());
                story.tell((once!(recv), sender.strong_count()));
                drop(recv);
                let mut recv = Box::pin(receiver.recv());
                story.tell(once!(recv));
                drop((recv, sender));
                story.tell((receiver.recv().await, receiver.is_closed(), receiver.len()));
            }

            async fn oneshots(story: &mut Story) {
                use sync::oneshot;
                let (sender, mut receiver) = oneshot::channel();
                story.tell((receiver.try_recv(), &receiver, receiver.is_empty(), receiver.is_terminated(), sender.is_closed()));
                story.tell((once!(pin!(&mut receiver)), once!(pin!(&mut receiver)), tokio::time::timeout(Duration::ZERO, &mut receiver).await));
                // What was given up is not lost.
                story.tell((sender.send(1), receiver.is_empty(), &receiver));
                story.tell(((&mut receiver).await, receiver.is_empty(), receiver.is_terminated(), receiver.try_recv(), &receiver));

                let (sender, mut receiver) = oneshot::channel();
                story.tell((once!(pin!(&mut receiver)), sender.send("tried"), receiver.try_recv(), receiver.is_terminated(), receiver.try_recv()));

                let (mut sender, mut receiver) = oneshot::channel();
                let mut cx = Context::from_waker(Waker::noop());
                story.tell((sender.poll_closed(&mut cx), once!(pin!(&mut receiver)), &sender));
                receiver.close();
                sender.closed().await;
                let words = receiver.try_recv().unwrap_err().to_string();
                story.tell((sender.is_closed(), sender.poll_closed(&mut cx), sender.send(2), words, receiver.is_terminated()));
                // What was sent before it was closed is there.
                let (sender, mut receiver) = oneshot::channel();
                story.tell((once!(pin!(&mut receiver)), sender.send(3), receiver.close(), receiver.await));

                let (sender, receiver) = oneshot::channel::<u8>();
                drop(sender);
                story.tell(receiver.await.map_err(|error| (error.to_string(), error)));
                let (sender, receiver) = oneshot::channel();
                drop(receiver);
                story.tell(sender.send(4));
                let (sender, mut receiver) = oneshot::channel();
                let waits = once!(pin!(&mut receiver));
                let blocks = tokio::task::spawn_blocking(move || receiver.blocking_recv());
                story.tell((waits, sender.send(5), blocks.await.unwrap()));
                let (sender, receiver) = oneshot::channel();
                let sends = tokio::spawn(async move { sender.send(String::from("six")) });
                story.tell((receiver.await, sends.await.unwrap()));
                // Its value need not live for ever, nor is a receiver pinned where it is.
                let text = String::from("borrowed");
                let (sender, mut receiver) = oneshot::channel();
                let waits = once!(pin!(&mut receiver));
                let mut moved = Box::new(receiver);
                sender.send(&text[1..]).unwrap();
                story.tell((waits, once!(pin!(&mut moved))));
            }

            async fn broadcasts(story: &mut Story) {
                use sync::broadcast::{self, error::RecvError};
                let (sender, mut one) = broadcast::channel(3);
                let mut two = sender.subscribe();
                story.tell((&sender, &one, sender.len(), sender.is_empty(), sender.receiver_count(), one.len(), one.is_empty()));
                story.tell((one.try_recv(), one.is_closed(), one.same_channel(&two), one.same_channel(&broadcast::channel(1).1)));
                let mut waits = Box::pin(one.recv());
                story.tell((once!(waits), sender.send(1)));
                story.tell((once!(waits), two.recv().await, two.try_recv()));
                drop(waits);
                let mut given_up = Box::pin(two.recv());
                story.tell(once!(given_up));
                drop(given_up);
                // The buffer has room for four.
                (2..=6).for_each(|number| _ = sender.send(number).unwrap());
                story.tell((sender.len(), sender.is_empty(), one.len(), two.resubscribe().len(), sender.receiver_count()));
                let lagged = two.recv().await;
                story.tell((lagged == Err(RecvError::Lagged(1)), lagged.map_err(|error| error.to_string()), two.recv().await));
                story.tell((one.try_recv(), one.try_recv(), one.try_recv().is_ok(), one.len()));
                let (other, weak) = (sender.clone(), sender.downgrade());
                story.tell((&weak, sender.strong_count(), sender.weak_count(), weak.clone().strong_count(), weak.weak_count()));
                story.tell((other.same_channel(&sender), one.sender_strong_count(), one.sender_weak_count()));
                story.tell((weak.upgrade().unwrap().same_channel(&other), weak.upgrade().unwrap().subscribe().same_channel(&one)));
                drop(other);
                let blocks = move || (one.blocking_recv(), one.blocking_recv());
                story.tell(tokio::task::spawn_blocking(blocks).await.unwrap());
                story.tell((two.recv().await, two.recv().await, two.recv().await));
                let mut closed = Box::pin(sender.closed());
                story.tell(once!(closed));
                drop((two, closed));
                sender.closed().await;
                story.tell((sender.send(7).map_err(|error| (error.to_string(), error)), sender.receiver_count()));
                let mut three = sender.subscribe();
                story.tell((sender.send(8), three.recv().await));
                let mut waits = Box::pin(three.recv());
                story.tell(once!(waits));
                drop(sender);
                story.tell((once!(waits), weak.upgrade().is_some(), weak.strong_count()));
                drop(waits);
                story.tell((three.try_recv(), three.is_closed(), three.recv().await.map_err(|error| error.to_string())));
                // What is sent need not be clonable until it is received.
                let sender = broadcast::Sender::new(1);
                let _receiver = sender.subscribe();
                story.tell((sender.receiver_count(), sender.send(sync::Notify::new()).is_ok(), sender.same_channel(&sender)));
            }

            /// What is not to be done, and the words for that.
            async fn panics(story: &mut Story) {
                let words = |result: std::thread::Result<()>| {
                    let words = result.unwrap_err();
                    let literal = words.downcast_ref::<&str>().map(|words| words.to_string());
                    literal.or(words.downcast_ref::<String>().cloned()).unwrap()
                };
                let lock = sync::Mutex::new(1);
                let mut told = |panics: &mut dyn FnMut()| story.tell(words(catch_unwind(AssertUnwindSafe(panics))));
                told(&mut || drop(lock.blocking_lock()));
                told(&mut || drop(sync::RwLock::new(1).blocking_read()));
                told(&mut || _ = sync::RwLock::with_max_readers(1, 0));
                told(&mut || drop(sync::Semaphore::new(1).blocking_acquire()));
                told(&mut || _ = sync::Semaphore::new(usize::MAX));
                told(&mut || drop(sync::mpsc::channel::<()>(0)));
                told(&mut || drop(sync::oneshot::channel::<()>().1.blocking_recv()));
                let mut received = sync::oneshot::channel::<()>().1;
                received.close();
                told(&mut || drop((once!(pin!(&mut received)), once!(pin!(&mut received)))));
                told(&mut || drop(sync::broadcast::channel::<()>(0)));
                told(&mut || drop(sync::broadcast::Sender::<()>::new(usize::MAX)));
                told(&mut || drop(sync::broadcast::channel::<()>(1).1.blocking_recv()));
                told(&mut || drop(sync::MutexGuard::map(lock.try_lock().unwrap(), |_| -> &mut u8 { panic!("within") })));
                let (sender, mut receiver) = sync::watch::channel(1);
                told(&mut || sender.send_modify(|_| panic!("it modifies")));
                told(&mut || _ = sender.send_if_modified(|_| panic!("maybe")));
                told(&mut || drop(once!(Box::pin(receiver.wait_for(|_| panic!("it waits"))))));
                let mut changed = Box::pin(receiver.changed());
                sender.send(2).unwrap();
                drop(once!(changed));
                told(&mut || drop(once!(changed)));
                let cell = sync::OnceCell::<u8>::new();
                told(&mut || _ = once!(Box::pin(cell.get_or_init(async || panic!("it makes")))));
                let mut made = Box::pin(cell.get_or_init(async || 1));
                _ = once!(made);
                told(&mut || _ = once!(made));
                let mut set = Box::pin(async { *sync::SetOnce::from(1).wait().await });
                _ = once!(set);
                told(&mut || _ = once!(set));
                let other = Arc::new(sync::Semaphore::new(1));
                told(&mut || {
                    let mut permit = Arc::clone(&other).try_acquire_owned().unwrap();
                    permit.merge(Arc::new(sync::Semaphore::new(1)).try_acquire_owned().unwrap());
                });
                let mut lock = Box::pin(lock.lock());
                drop(once!(lock));
                told(&mut || drop(once!(lock)));
                story.tell(other.available_permits());
            }
        }
    )* };
}

stories! {
    tokios: tokio::sync;
    ours: perfschema::tokio::sync;
}
