// Training claims nodes in the middle of steady traffic, and gives them back. No image may be lost by it.

import exec from 'k6/execution';
import type { Options } from 'k6/options';
import { judge } from '../lib/checks.ts';
import { claimAndRelease, releaseAll } from '../lib/claims.ts';
import { generate } from '../lib/client.ts';
import { run } from '../lib/config.ts';
import { balanced, opened } from '../lib/conservation.ts';
import type { Opening } from '../lib/conservation.ts';
import { phaseNow } from '../lib/phases.ts';
import { promptOf } from '../lib/prompts.ts';
import { arriving, once } from '../lib/scenarios.ts';
import { summaryOf } from '../lib/summary.ts';
import { CLAIM } from '../thresholds.ts';

interface Told {
  opening: Opening;
  owner: string;
}

export const options: Options = {
  scenarios: {
    traffic: arriving('traffic'),
    training: once('training', run.claimAtS, run.claimForS + 20),
  },
  thresholds: CLAIM,
  summaryTrendStats: ['count', 'min', 'med', 'avg', 'p(95)', 'p(99)', 'max'],
};

export function setup(): Told {
  return { opening: opened(), owner: `k6-${Date.now().toString(36)}` };
}

export function traffic(): void {
  const number = exec.scenario.iterationInTest;
  const tags = { phase: phaseNow() };
  judge(generate(number, promptOf(number), tags), tags);
}

export function training(told: Told): void {
  claimAndRelease(told.owner);
}

export function teardown(told: Told): void {
  releaseAll(told.owner);
  balanced(told.opening);
}

export const handleSummary = summaryOf('claim-midrun');
