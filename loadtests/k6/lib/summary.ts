// What a run leaves behind: JSON for machines, JUnit for CI, Markdown for people, a few lines on the screen.

import { run } from './config.ts';
import { junit } from './junit.ts';
import { markdown } from './markdown.ts';
import { verdictOf } from './verdict.ts';
import type { Summary } from './verdict.ts';

type Files = Record<string, string>;

export function summaryOf(profile: string): (data: Summary) => Files {
  return (data) => {
    const verdict = verdictOf(profile, data);
    const text = markdown(verdict);
    const stem = `${run.results}/${profile}`;
    return {
      [`${stem}.json`]: JSON.stringify(verdict, null, 2) + '\n',
      [`${stem}.xml`]: junit(verdict),
      [`${stem}.md`]: text,
      stdout: `\n${text}\n`,
    };
  };
}
