// A few images and every kind of answer: does the router work at all?

import exec from 'k6/execution';
import { check } from 'k6';
import type { Options } from 'k6/options';
import { isRefusal, judge } from '../lib/checks.ts';
import { ask, gateway, generate } from '../lib/client.ts';
import { run } from '../lib/config.ts';
import { balanced, opened } from '../lib/conservation.ts';
import type { Opening } from '../lib/conservation.ts';
import { promptOf } from '../lib/prompts.ts';
import { arriving, once } from '../lib/scenarios.ts';
import { summaryOf } from '../lib/summary.ts';
import { ALWAYS } from '../thresholds.ts';

export const options: Options = {
  scenarios: { traffic: arriving('traffic'), surface: once('surface', 0, 20) },
  thresholds: ALWAYS,
  summaryTrendStats: ['count', 'min', 'med', 'avg', 'p(95)', 'p(99)', 'max'],
};

export const setup = opened;

export function traffic(): void {
  const number = exec.scenario.iterationInTest;
  judge(generate(number, promptOf(number), {}), {});
}

export function surface(): void {
  const url = gateway(0);
  const live = ask('GET', `${url}/livez`, '');
  const models = ask('GET', `${url}/v1/models`, run.apiKey);
  const stranger = ask('GET', `${url}/v1/models`, 'sk-nobody', null, 401);
  const outsider = ask('GET', `${url}/admin/state`, run.apiKey, null, 403);
  check(null, {
    'the process lives': () => live.status === 200,
    'there is a model': () => (models.json() as unknown as { data: object[] }).data.length > 0,
    'a stranger is refused': () => stranger.status === 401 && isRefusal(stranger),
    'a client is no operator': () => outsider.status === 403 && isRefusal(outsider),
  });
}

export function teardown(opening: Opening): void {
  balanced(opening);
}

export const handleSummary = summaryOf('smoke');
