/** Runs a part of the contract's scenario: `node runner/run.ts <part>`. Documented in the contract's README. */
import { readFileSync } from 'node:fs';
import { createAppSteps } from './app-steps.ts';
import { createServerSteps } from './server-steps.ts';
import { print, type Step, type Steps, setting } from './steps.ts';

const makers: Record<string, () => Steps> = { app: createAppSteps, server: createServerSteps };

async function play(part: { needs: string; steps: Step[] }): Promise<number> {
  const steps = makers[part.needs]?.();
  if (!steps) return 3;
  for (const [index, step] of part.steps.entries()) {
    const run = steps[step.do];
    try {
      if (!run) throw new Error('the runner has no such step');
      await run(step);
      print({ step: index, do: step.do, passed: true });
    } catch (error) {
      print({ step: index, do: step.do, passed: false, detail: String((error as Error).stack ?? error) });
      return 1;
    }
  }
  return 0;
}

const scenario = JSON.parse(readFileSync(setting('PARLEY_SCENARIO'), 'utf8'));
const part = scenario.parts.find(({ name }: { name: string }) => name === process.argv[2]);
if (!part) process.stderr.write(`there is no part ${process.argv[2]}\n`);
process.exitCode = part ? await play(part) : 2;
