// The run as two tables: what was promised, and how it went in each phase.

import { PHASES } from './phases.ts';
import type { Verdict } from './verdict.ts';

type Numbers = Record<string, number>;

export function markdown(verdict: Verdict): string {
  const { profile, passed, seconds, parameters, promises, checks } = verdict;
  return [
    `# k6 ${profile}: ${passed ? 'passed' : 'FAILED'} in ${seconds.toFixed(1)} s`,
    '',
    `\`${JSON.stringify(parameters)}\``,
    '',
    '| promise | | measured |',
    '|---|---|---|',
    ...promises.map((one) => `| ${one.metric}: ${one.threshold} | ${mark(one.kept)} | ${shown(one.values)} |`),
    '',
    ...phases(verdict.metrics),
    '| check | | |',
    '|---|---|---|',
    ...checks.map((one) => `| ${one.name} | ${mark(!one.fails)} | ${one.passes} of ${one.passes + one.fails} |`),
    '',
  ].join('\n');
}

function phases(metrics: Record<string, Numbers>): string[] {
  const rows = PHASES.filter((phase) => metrics[`spilled{phase:${phase}}`]).map((phase) => {
    const of = (metric: string): Numbers => metrics[`${metric}{phase:${phase}}`] || {};
    const [wait, total] = [of('time_in_queue'), of('time_to_image')];
    return `| ${phase} | ${total.count} | ${percent(of('spilled').rate)} | ${wait.med} / ${wait['p(95)']} | ${total.med} / ${total['p(95)']} |`;
  });
  const head = ['| phase | images | spilled | queue ms, median / p95 | image ms, median / p95 |', '|---|---|---|---|---|'];
  return rows.length ? [...head, ...rows.map((row) => row.replace(/\d+\.\d+/g, round)), ''] : [];
}

function mark(good: boolean): string {
  return good ? 'ok' : '**broken**';
}

function shown(values: Numbers): string {
  return Object.entries(values).map(([name, value]) => `${name}=${round(String(value))}`).join(' ');
}

function round(text: string): string {
  return String(Math.round(Number(text) * 100) / 100);
}

function percent(rate: number | undefined): string {
  return `${Math.round((rate || 0) * 100)} %`;
}
