import { expect, test } from 'vitest';
import { createAdmission, type MeasuredSize } from '../../src/queue/admission.ts';
import { MAX_MEMORY_RATIO } from '../../src/queue/durability.ts';

const MEGABYTE = 1024 * 1024;

/** A store that accepts `roomBytes` more before answers are rejected. */
const aSize = (roomBytes: number, fields: Partial<MeasuredSize> = {}): MeasuredSize => {
  const limitBytes = 100 * MEGABYTE;
  const queueBytes = MAX_MEMORY_RATIO * limitBytes - roomBytes;
  return { durability: { maxBytes: limitBytes }, queueBytes, limitBytes, waitingJobs: 0, maxJobs: 10, ...fields };
};

test('no store is full before the first check', () => {
  const admission = createAdmission();
  admission.expect(Number.MAX_SAFE_INTEGER);
  expect(admission.isFull()).toBe(false);
});

test('bytes added since a check count against its room, and are released once a check has seen them', () => {
  const admission = createAdmission();
  expect(admission.checkSize(aSize(1000))).toEqual([]);
  admission.expect(1000);
  expect(admission.isFull()).toBe(false);
  admission.expect(1);
  expect(admission.isFull()).toBe(true);
  const seen = admission.unseenBytes();
  admission.expect(500); // during the check
  admission.release(seen);
  expect(admission.unseenBytes()).toBe(500);
  expect(admission.isFull()).toBe(false);
});

test('a store at its limit is reported by its memory, or by QUEUE_MAX_MB if it has no limit of its own', () => {
  const admission = createAdmission();
  expect(admission.checkSize(aSize(1))).toEqual([]);
  const percent = Math.round(MAX_MEMORY_RATIO * 100);
  expect(admission.checkSize(aSize(0))).toEqual([`its memory is ${percent} % full`]);
  expect(admission.checkSize(aSize(0, { durability: { maxBytes: 0 } }))).toEqual([
    `its size is ${percent} MB of at most ${percent} MB (QUEUE_MAX_MB)`,
  ]);
});

test('as many waiting jobs as QUEUE_MAX_JOBS are reported', () => {
  const admission = createAdmission();
  expect(admission.checkSize(aSize(1, { waitingJobs: 9 }))).toEqual([]);
  expect(admission.checkSize(aSize(1, { waitingJobs: 10 }))).toEqual(['10 jobs are waiting']);
});
