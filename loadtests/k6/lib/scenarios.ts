// How load is put on. Always by arrival rate: a user who waits for an answer before asking again would slow
// down together with the router, and hide the queue that this suite is here to see.

import type { Scenario } from 'k6/options';
import { run } from './config.ts';

const BUSY_S = 6;

export function arriving(exec: string): Scenario {
  // Whole arrivals over ten seconds, so that RATE may be a fraction.
  return {
    executor: 'constant-arrival-rate',
    exec,
    rate: Math.max(1, Math.round(run.rate * 10)),
    timeUnit: '10s',
    duration: `${run.durationS}s`,
    preAllocatedVUs: Math.ceil(run.rate * BUSY_S) + 2,
    maxVUs: Math.ceil(run.rate * (run.deadlineS + BUSY_S)) + 2,
    gracefulStop: `${run.deadlineS + 10}s`,
  };
}

// One act, once, at a moment of the run.
export function once(exec: string, startS: number, longestS: number): Scenario {
  return {
    executor: 'shared-iterations',
    exec,
    vus: 1,
    iterations: 1,
    startTime: `${startS}s`,
    maxDuration: `${longestS}s`,
    gracefulStop: '5s',
  };
}
