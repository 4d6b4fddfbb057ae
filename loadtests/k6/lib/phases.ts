// The three parts of a run with a claim in it, told from the time since its start.

import exec from 'k6/execution';
import { run } from './config.ts';

export type Phase = 'before' | 'claimed' | 'after';
export const PHASES: Phase[] = ['before', 'claimed', 'after'];

// Of a request that is sent now.
export function phaseNow(): Phase {
  const elapsedS = exec.instance.currentTestRunDuration / 1000;
  if (elapsedS < run.claimAtS) return 'before';
  return elapsedS < run.claimAtS + run.claimForS ? 'claimed' : 'after';
}
