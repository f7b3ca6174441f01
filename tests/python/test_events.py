# SPDX-License-Identifier: GPL-2.0
"""Module rsm: events, by waiting, by poll and in asyncio."""

import asyncio
import select
import signal
import threading
import time
import unittest

import rsm
from support import PAGE, SegmentTest


class Waiting(SegmentTest):
    def test_events_go_both_ways(self):
        self.assertFalse(self.segment.wait(0))
        self.connection.post()
        self.assertTrue(self.segment.wait())
        self.segment.post()
        self.assertTrue(self.connection.wait(10))
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
        self.assertTrue(self.segment.wait(10))
        self.assertFalse(self.segment.wait(0))

    def test_a_wait_is_not_too_short(self):
        begin = time.monotonic()
        self.assertFalse(self.segment.wait(0.0205))
        self.assertGreaterEqual(time.monotonic() - begin, 0.0205)

    def test_other_threads_run_meanwhile(self):
        thread = threading.Thread(target=self.connection.post)
        threading.Timer(0.05, thread.start).start()
        self.assertTrue(self.segment.wait(60))
        thread.join()

    def test_signals_are_handled_meanwhile(self):
        heard = []
        self.on_alarm(lambda *_: (heard.append(1), self.connection.post()))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        self.assertTrue(self.segment.wait(60))
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

    def test_an_end_that_fails_ends_no_wait(self):
        async def fail():
            with rsm.Export(PAGE) as unpublished:
                task = asyncio.create_task(unpublished.event())
                await asyncio.sleep(0)  # it has run up to where it waits
                with self.assertRaises(rsm.NotPublished):
                    unpublished.unpublish()
                with rsm.Import(unpublished.publish()) as connection:
                    connection.post()
                    await task
        asyncio.run(fail())

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
