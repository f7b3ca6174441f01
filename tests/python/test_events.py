# SPDX-License-Identifier: GPL-2.0
"""Module rsm: events, by waiting, by poll and in asyncio."""

import asyncio
import errno
import os
import select
import signal
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import rsm
from support import PAGE, SegmentTest


class Sleeper(threading.Thread):
    """A thread that waits for an event. Its outcome is what wait() returned or raised."""

    def __init__(self, source):
        super().__init__()
        self.source = source
        self.outcome = None
        self.start()

    def run(self):
        try:
            self.outcome = self.source.wait()
        except Exception as error:
            self.outcome = error

    def wait_until_it_sleeps(self):
        """Until it sleeps in poll(), which it calls without a limit there only."""
        channel = Path(f"/proc/self/task/{self.native_id}/wchan")
        while "poll" not in channel.read_text():
            time.sleep(0.01)


class Waiting(SegmentTest):
    def test_events_go_both_ways(self):
        self.assertFalse(self.segment.wait(0))
        self.connection.post()
        self.assertTrue(self.segment.wait())
        self.segment.post()
        self.assertTrue(self.connection.wait())
        self.assertFalse(self.connection.wait(-1), "consumed")

    def test_the_end_of_a_connection_ends_a_wait(self):
        self.segment.post()
        thread = threading.Thread(target=self.segment.unpublish)
        thread.start()
        self.assertTrue(self.connection.wait(), "the event that was there")
        with self.assertRaises(rsm.ConnectionAborted):
            self.connection.wait()
        thread.join()

    def test_events_that_do_not_accumulate(self):
        self.connection.post()
        self.connection.post(accumulate=False)
        self.assertTrue(self.segment.wait())
        self.assertFalse(self.segment.wait(0))

    def test_a_wait_is_not_too_short(self):
        begin = time.monotonic()
        self.assertFalse(self.segment.wait(0.0205))
        self.assertGreaterEqual(time.monotonic() - begin, 0.0205)

    def test_other_threads_run_meanwhile(self):
        thread = threading.Thread(target=self.connection.post)
        threading.Timer(0.05, thread.start).start()
        self.assertTrue(self.segment.wait())
        thread.join()

    def test_signals_are_handled_meanwhile(self):
        heard = []
        self.on_alarm(lambda *_: (heard.append(1), self.connection.post()))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        self.assertTrue(self.segment.wait())
        self.assertEqual(heard, [1])

    def test_a_handler_can_end_the_wait(self):
        class Stop(Exception):
            """What the handler raises."""

        def stop(*_):
            raise Stop
        self.on_alarm(stop)
        with self.assertRaises(Stop):
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            self.segment.wait()

    def test_a_handler_that_closes_ends_the_wait(self):
        self.on_alarm(lambda *_: self.connection.close())
        with self.assertRaises(rsm.Closed):
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            self.connection.wait()

    def test_threads_that_wait_hear_of_a_close(self):
        for source, end in ((self.connection, self.connection.close), (self.segment, self.segment.unpublish),
                            (self.segment, self.segment.close)):
            for thread in (sleepers := [Sleeper(source) for _ in range(3)]):
                thread.wait_until_it_sleeps()
            end()
            for thread in sleepers:
                thread.join()
                self.assertIsInstance(thread.outcome, rsm.Closed)

    def test_threads_that_wait_sleep_on_after_an_end_that_fails(self):
        with rsm.Export(PAGE) as unpublished:
            sleeper = Sleeper(unpublished)
            sleeper.wait_until_it_sleeps()
            with self.assertRaises(rsm.NotPublished):
                unpublished.unpublish()
            sleeper.wait_until_it_sleeps()
            with rsm.Import(unpublished.publish()) as connection:
                connection.post()
                sleeper.join()
        self.assertIs(sleeper.outcome, True)

    def test_threads_that_wait_hear_of_a_close_after_an_end_that_fails(self):
        for _ in range(20):
            unpublished = rsm.Export(PAGE)
            sleeper = Sleeper(unpublished)
            sleeper.wait_until_it_sleeps()
            with self.assertRaises(rsm.NotPublished):
                unpublished.unpublish()
            unpublished.close()
            sleeper.join()
            self.assertIsInstance(sleeper.outcome, rsm.Closed)

    def test_threads_that_wait_hear_of_an_end_while_its_memory_is_used(self):
        with self.connection as connection, connection.map() as view:
            kept = memoryview(view)
            sleeper = Sleeper(connection)
            sleeper.wait_until_it_sleeps()
        sleeper.join()
        self.assertIsInstance(sleeper.outcome, rsm.Closed)
        kept.release()

    def test_all_may_close(self):
        for source in (self.connection, self.segment):
            failed = []

            def close(source=source, failed=failed):
                try:
                    source.close()
                except rsm.Error as error:
                    failed.append(error)
            threads = [threading.Thread(target=close) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(failed, [])

    def test_a_handler_that_raises_in_a_wait_leaves_it_closable(self):
        def fail(name, *arguments):
            call(name, *arguments)
            raise KeyboardInterrupt  # as of a handler behind the call

        call = rsm.events.call
        with mock.patch.object(rsm.events, "call", fail), self.assertRaises(KeyboardInterrupt):
            self.connection.wait(0)
        self.connection.close()

    def test_too_few_descriptors(self):
        with mock.patch.object(os, "pipe", side_effect=OSError(errno.EMFILE, "")), \
                self.assertRaises(rsm.OutOfResources):
            self.connection.wait(60)

    def test_a_child_has_none_of_its_parents_locks(self):
        locked, forked = threading.Event(), threading.Event()

        def hold():
            with self.connection._lock:
                locked.set()
                forked.wait()
        thread = threading.Thread(target=hold)
        thread.start()
        locked.wait()
        child = os.fork()
        if child == 0:
            with self.connection._lock:
                os._exit(0)
        forked.set()
        thread.join()
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_close_in_a_child_ends_no_wait_of_the_parent(self):
        sleeper = Sleeper(self.connection)
        sleeper.wait_until_it_sleeps()
        child = os.fork()
        if child == 0:
            self.connection.close()
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        sleeper.wait_until_it_sleeps()
        self.segment.post()
        sleeper.join()
        self.assertIs(sleeper.outcome, True)

    def test_a_child_delays_no_close_of_its_parent(self):
        sleeper = Sleeper(self.connection)
        sleeper.wait_until_it_sleeps()
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.read(reader, 1)
            os._exit(0)
        self.connection.close()
        sleeper.join()
        os.write(writer, b"e")
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        for end in (reader, writer):
            os.close(end)
        self.assertIsInstance(sleeper.outcome, rsm.Closed)

    def on_alarm(self, handler):
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, handler))

    def test_threads_that_are_the_first_to_wait(self):
        for _ in range(50):
            with rsm.Export(PAGE) as segment:
                start = threading.Barrier(4)

                def wait(segment=segment, start=start):
                    start.wait()
                    segment.wait(0)
                threads = [threading.Thread(target=wait) for _ in range(4)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()

    def test_poll_does_not_consume(self):
        poll = select.poll()
        poll.register(self.segment, select.POLLIN)
        self.assertEqual(poll.poll(0), [])
        self.connection.post()
        self.assertEqual(poll.poll(), [(self.segment.fileno(), select.POLLIN)])
        self.assertTrue(self.segment.wait(0))
        self.assertEqual(poll.poll(0), [])


class Awaiting(SegmentTest):
    def test_an_event_in_asyncio(self):
        async def talk():
            answer = asyncio.create_task(self.connection.event())
            await asyncio.sleep(0.05)
            self.assertFalse(answer.done())
            self.segment.post()
            await answer
        asyncio.run(talk())
        self.assertFalse(self.connection.wait(0))

    def test_each_event_wakes_one_task(self):
        async def crowd():
            tasks = [asyncio.create_task(self.segment.event()) for _ in range(5)]
            await asyncio.sleep(0.05)
            for done in range(1, 6):
                self.connection.post()
                while sum(task.done() for task in tasks) < done:
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.02)
                self.assertEqual(sum(task.done() for task in tasks), done)
        asyncio.run(crowd())

    def test_a_task_that_gives_up_takes_nothing(self):
        async def give_up():
            with self.assertRaises(TimeoutError):
                await asyncio.wait_for(self.segment.event(), 0.05)
        asyncio.run(give_up())
        self.connection.post()
        asyncio.run(self.segment.event())
        self.assertFalse(self.segment.wait(0))

    def test_a_close_is_heard_by_those_who_wait(self):
        async def close():
            task = asyncio.create_task(self.connection.event())
            await asyncio.sleep(0.05)
            self.connection.close()
            with self.assertRaises(rsm.Closed):
                await task
            other = asyncio.create_task(self.segment.event())
            await asyncio.sleep(0.05)
            self.segment.unpublish()
            with self.assertRaises(rsm.Closed):
                await other
        asyncio.run(close())

    async def fail_to_end(self, unpublish):
        """unpublish: a coroutine function that calls unpublish() of a segment."""
        with rsm.Export(PAGE) as unpublished:
            task = asyncio.create_task(unpublished.event())
            await asyncio.sleep(0)  # it has run up to where it waits
            with self.assertRaises(rsm.NotPublished):
                await unpublish(unpublished)
            with rsm.Import(unpublished.publish()) as connection:
                connection.post()
                await task

    def test_an_end_that_fails_ends_no_wait(self):
        async def unpublish(segment):
            segment.unpublish()
        asyncio.run(self.fail_to_end(unpublish))

    def test_an_end_by_another_thread_that_fails_ends_no_wait(self):
        async def unpublish(segment):
            await asyncio.to_thread(segment.unpublish)
        asyncio.run(self.fail_to_end(unpublish))

    def test_tasks_hear_of_a_close_by_another_thread(self):
        async def close():
            for source, end in ((self.connection, self.connection.close),
                                (self.segment, self.segment.unpublish)):
                tasks = [asyncio.create_task(source.event()) for _ in range(3)]
                await asyncio.sleep(0)  # each has run up to where it waits
                thread = threading.Thread(target=end)
                thread.start()
                for outcome in await asyncio.gather(*tasks, return_exceptions=True):
                    self.assertIsInstance(outcome, rsm.Closed)
                thread.join()
        asyncio.run(close())

    def test_a_task_that_is_about_to_run_hears_of_a_close(self):
        for end in ("unpublish", "close"):
            async def close(end=end):
                async def wait_and_end():
                    await self.segment.event()
                    getattr(self.segment, end)()
                tasks = [asyncio.create_task(wait_and_end()) for _ in range(2)]
                await asyncio.sleep(0)  # each has run up to where it waits
                with rsm.Import(self.segment.id) as connection:
                    connection.post()
                    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
                self.assertCountEqual([type(outcome) for outcome in outcomes], [type(None), rsm.Closed])
            asyncio.run(close())
            if end == "unpublish":
                self.segment.publish()

    def test_a_handler_that_closes_wakes_the_loop(self):
        async def wait():
            task = asyncio.create_task(self.connection.event())
            await asyncio.sleep(0)  # it has run up to where it waits
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with self.assertRaises(rsm.Closed):
                await task
        self.addCleanup(signal.signal, signal.SIGALRM,
                        signal.signal(signal.SIGALRM, lambda *_: self.connection.close()))
        asyncio.run(wait())

    def test_a_loop_after_one_that_left_a_task(self):
        loop = asyncio.new_event_loop()
        left = loop.create_task(self.segment.event())
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

        async def wait():
            self.connection.post()
            await self.segment.event()
        asyncio.run(wait())
        left._log_destroy_pending = False

    def test_a_close_after_the_loop_has_ended(self):
        async def give_up():
            with self.assertRaises(TimeoutError):
                await asyncio.wait_for(self.connection.event(), 0.05)
        asyncio.run(give_up())
        self.connection.close()

    def test_the_end_of_a_connection_is_heard_by_those_who_wait(self):
        async def end():
            tasks = [asyncio.create_task(self.connection.event()) for _ in range(3)]
            await asyncio.sleep(0)  # each has run up to where it waits
            self.segment.unpublish()
            for outcome in await asyncio.gather(*tasks, return_exceptions=True):
                self.assertIsInstance(outcome, rsm.ConnectionAborted)
        asyncio.run(end())

    def test_one_loop_at_a_time(self):
        async def other_loop():
            with self.assertRaises(RuntimeError):
                await self.segment.event()

        async def wait():
            task = asyncio.create_task(self.segment.event())
            await asyncio.sleep(0.05)
            await asyncio.to_thread(asyncio.run, other_loop())
            self.connection.post()
            await task
        asyncio.run(wait())

    def test_several_segments(self):
        async def serve():
            with rsm.Export(PAGE) as other, rsm.Import(other.publish()) as connection:
                tasks = [asyncio.create_task(source.event()) for source in (self.segment, other)]
                await asyncio.sleep(0.05)
                connection.post()
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                self.assertEqual(done, {tasks[1]})
                self.connection.post()
                await tasks[0]
        asyncio.run(serve())


if __name__ == "__main__":
    unittest.main()
