// One test case for every promise and every check, as CI systems read them.

import type { Verdict } from './verdict.ts';

export function junit(verdict: Verdict): string {
  const cases = [
    ...verdict.promises.map((one) => {
      const found = Object.entries(one.values).map(([name, value]) => `${name}=${value}`);
      return testCase('promises', `${one.metric}: ${one.threshold}`, one.kept ? '' : found.join(', '));
    }),
    ...verdict.checks.map((one) => {
      const failed = one.fails ? `${one.fails} of ${one.passes + one.fails} failed` : '';
      return testCase('checks', one.name, failed);
    }),
  ];
  const failures = cases.filter((one) => one.includes('<failure')).length;
  const counts = `tests="${cases.length}" failures="${failures}" time="${verdict.seconds.toFixed(3)}"`;
  const suite = `<testsuite name="k6 ${escaped(verdict.profile)}" ${counts}>`;
  return ['<?xml version="1.0" encoding="UTF-8"?>', suite, ...cases, '</testsuite>', ''].join('\n');
}

function testCase(group: string, name: string, failure: string): string {
  const head = `  <testcase classname="${group}" name="${escaped(name)}"`;
  return failure ? `${head}><failure message="${escaped(failure)}"/></testcase>` : `${head}/>`;
}

function escaped(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (character) => entities[character]);
}
