// k6's end-of-run data in this suite's own terms. Names the parameters, never the keys.

import { run } from './config.ts';

export interface Summary {
  metrics: Record<string, Metric>;
  root_group: Group;
  state: { testRunDurationMs: number };
}

interface Metric {
  type: string;
  values: Record<string, number>;
  thresholds?: Record<string, { ok: boolean }>;
}

interface Group {
  checks: { name: string; passes: number; fails: number }[];
  groups: Group[];
}

export interface Kept {
  metric: string;
  threshold: string;
  kept: boolean;
  values: Record<string, number>;
}

export interface Check {
  name: string;
  passes: number;
  fails: number;
}

export interface Verdict {
  profile: string;
  passed: boolean;
  seconds: number;
  parameters: Record<string, unknown>;
  promises: Kept[];
  checks: Check[];
  metrics: Record<string, Record<string, number>>;
}

export function verdictOf(profile: string, data: Summary): Verdict {
  const promises = promisesOf(data);
  const checks = checksOf(data.root_group);
  const { apiKey, adminKey, results, ...parameters } = run;
  return {
    profile,
    passed: promises.every((one) => one.kept),
    seconds: data.state.testRunDurationMs / 1000,
    parameters,
    promises,
    checks,
    metrics: Object.fromEntries(Object.entries(data.metrics).map(([name, { values }]) => [name, values])),
  };
}

function promisesOf(data: Summary): Kept[] {
  return Object.entries(data.metrics).flatMap(([metric, { thresholds, values }]) =>
    Object.entries(thresholds || {}).map(([threshold, { ok }]) => ({ metric, threshold, kept: ok, values })),
  ).sort((one, other) => one.metric.localeCompare(other.metric));
}

function checksOf(group: Group): Check[] {
  const own = group.checks.map(({ name, passes, fails }) => ({ name, passes, fails }));
  return own.concat(...group.groups.map(checksOf));
}
