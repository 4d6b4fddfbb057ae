// The promises of the router, in one place. A run that breaks one of them exits with 99.

import type { Options } from 'k6/options';
import { run } from './lib/config.ts';
import { PHASES } from './lib/phases.ts';

type Thresholds = NonNullable<Options['thresholds']>;

// Hold for every run. An exception in an iteration alone would leave the exit code at 0: `checks` and the
// counted iterations are what sees it.
export const ALWAYS: Thresholds = {
  checks: ['rate==1'],
  lost_requests: ['count==0'],
  duplicate_generations: ['count==0'],
  answers_unaccounted: ['count==0'],
  images_unaccounted: ['count==0'],
  images_unmade: ['count==0'],
  slots_left_behind: ['count==0'],
  dropped_iterations: ['count==0'],
  answered_well: ['rate>=0.99'],
  'iterations{scenario:traffic}': [`count>=${Math.floor(run.rate * run.durationS * 0.9)}`],
  time_to_image: [`p(95)<${run.p95Ms}`],
};

// Nobody is turned away because training took nodes; what does not fit goes out, and comes home again.
export const CLAIM: Thresholds = {
  ...ALWAYS,
  ...Object.fromEntries(PHASES.map((phase) => [`answered_well{phase:${phase}}`, ['rate>=0.99']])),
  ...Object.fromEntries(PHASES.map((phase) => [`time_to_image{phase:${phase}}`, [`p(95)<${run.p95Ms}`]])),
  ...Object.fromEntries(PHASES.map((phase) => [`time_in_queue{phase:${phase}}`, [`p(95)<${run.p95Ms}`]])),
  'spilled{phase:before}': ['rate<=0.1'],
  'spilled{phase:claimed}': ['rate>0'],
  'spilled{phase:after}': ['rate<=0.5'],
  claims_held: ['count==1'],
  time_to_held: [`max<${(run.graceS + 5) * 1000}`],
};
