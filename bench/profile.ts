import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { profilePath } from './children.ts';

interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

/** Time spent in a piece of code, without its callees. */
export interface SelfTime {
  name: string;
  ms: number;
  /** Share of the time in which the process was not idle. */
  share: number;
}

const ROOT = resolve(import.meta.dirname, '..');
const LARGEST = 10;
const IDLE = '(idle)';
/** The beginning of a profile is the loading of modules, not the handling of requests. */
const STARTING_MS = 2000;

type Frame = CpuProfile['nodes'][number]['callFrame'];

const fileOf = ({ url }: Frame): string => (url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : url);

const byFunction = (frame: Frame): string => {
  const name = frame.functionName || '(anonymous)';
  return frame.url ? `${name} ${fileOf(frame)}:${frame.lineNumber + 1}` : name;
};

/** The package, file of ours or part of Node to which a function belongs. */
const byOrigin = (frame: Frame): string => {
  const file = fileOf(frame);
  const inPackages = file.split('node_modules/').at(-1)?.split('/') ?? [];
  if (file.includes('node_modules/')) return inPackages.slice(0, inPackages[0]?.startsWith('@') ? 2 : 1).join('/');
  if (file) return file;
  return frame.functionName.startsWith('(') ? frame.functionName : '(native)';
};

function largest(profile: CpuProfile, nameOf: (frame: Frame) => string): SelfTime[] {
  const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const times = new Map<string, number>();
  let atMs = 0;
  for (const [index, id] of profile.samples.entries()) {
    const name = names.get(id) ?? '(unknown)';
    const ms = (profile.timeDeltas[index] ?? 0) / 1000;
    atMs += ms;
    if (atMs > STARTING_MS) times.set(name, (times.get(name) ?? 0) + ms);
  }
  times.delete(IDLE);
  const total = [...times.values()].reduce((sum, ms) => sum + ms, 0);
  return [...times]
    .sort(([, a], [, b]) => b - a)
    .slice(0, LARGEST)
    .map(([name, ms]) => ({ name, ms, share: ms / total }));
}

/** Returns the functions, and the packages and files, with the largest self-times, largest first. */
export function largestSelfTimes(profileName: string): { functions: SelfTime[]; origins: SelfTime[] } {
  const profile = JSON.parse(readFileSync(profilePath(profileName), 'utf8')) as CpuProfile;
  return { functions: largest(profile, byFunction), origins: largest(profile, byOrigin) };
}
