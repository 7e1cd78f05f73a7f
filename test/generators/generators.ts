import { rmSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readGuide, type Section, writeFiles } from './guide.ts';
import { BUILT, DOCUMENT, HERE, inNpm, inVenv, OAPI_CODEGEN, run, runShell, type Toolchains } from './toolchains.ts';

/** The languages of the generated clients. */
export type Language = 'typescript' | 'go' | 'python' | 'java' | 'kotlin' | 'rust' | 'csharp';

/** The languages that CI runs. `GENERATORS=all` adds the others, which take longer to compile. */
const IN_CI: Language[] = ['typescript', 'go', 'python'];

/** Whether this run includes a language. */
export const isChosen = (language: Language): boolean => process.env.GENERATORS === 'all' || IN_CI.includes(language);

/** A generator of clients. */
export interface Generator {
  name: string;
  language: Language;
  needs: (keyof Toolchains)[];
  generate(): Promise<{ stdout: string; stderr: string }>;
  /** Compiles the code, or imports all of it. */
  compile(): Promise<unknown>;
  /** Runs the main flow, and returns its output. */
  flow?(environment: Record<string, string>): Promise<{ stdout: string }>;
}

const folderOf = (name: string): string => join(BUILT, name);

/** Imports every module of a package in a folder, which also executes its declarations. */
const importAll = (folder: string, name: string) =>
  run(
    inVenv('python'),
    [
      '-c',
      `import importlib, pkgutil
package = importlib.import_module("${name}")
for module in pkgutil.walk_packages(package.__path__, "${name}."):
    importlib.import_module(module.name)`,
    ],
    folder,
  );

const TYPES = join(HERE, 'typescript');
const GO = join(HERE, 'go');
const GO_OF_OPENAPI_GENERATOR = join(HERE, 'go-of-openapi-generator');
const PYTHON = join(HERE, 'python');

const guide = await readGuide();

/** Generates a client with openapi-generator into a new folder. */
function openApiGenerator(language: Language | 'typescript-fetch', options = '') {
  rmSync(folderOf(language), { recursive: true, force: true });
  const ids = '--git-user-id parley --git-repo-id client'; // the Go module's name
  return runShell(
    `openapi-generator-cli generate -g ${language} -i '${DOCUMENT}' -o ${language} ${ids} ${options}`,
    BUILT,
  );
}

/** By default, openapi-generator refuses unknown members in replies (docs/decisions/0034-open-replies.md). */
const OPEN = '--additional-properties disallowAdditionalPropertiesIfNotPresent=false';

/** Generates a client into `client` of a new folder with the commands of the guide, next to the guide's files. */
async function generateAsGuided(language: Language, heading: string, options = '') {
  const section = guide.get(heading) as Section;
  await writeFiles(section, folderOf(language));
  await cp(DOCUMENT, join(folderOf(language), 'openapi.json'));
  return runShell(`${section.generate} ${options}`, folderOf(language));
}

/** C# 7 for .NET Framework 4.8, which Mono compiles. */
const FOR_MONO = '--additional-properties targetFramework=net48,nullableReferenceTypes=false';
const NEWTONSOFT = join(
  HERE,
  'node_modules/jillejr.newtonsoft.json-for-unity/Plugins/Newtonsoft.Json Editor/Newtonsoft.Json.dll',
);
const MCS_OPTIONS = [
  '-langversion:latest',
  '-out:Flow.exe',
  ...['Newtonsoft.Json.dll', 'System.Net.Http', 'System.Web'].map(name => `-r:${name}`),
  ...['System.ComponentModel.DataAnnotations', 'System.Runtime.Serialization'].map(name => `-r:${name}`),
  '-recurse:client/src/Parley/*.cs',
  join(HERE, 'csharp/Flow.cs'),
  join(HERE, 'csharp/Stubs.cs'),
];

/** Crates of the flow's middleware for Rust. */
const FOR_MIDDLEWARE = ['reqwest-middleware@0.5', 'async-trait@0.1', 'http@1'];

const EXEC_JAVA = 'org.codehaus.mojo:exec-maven-plugin:3.5.1:java';

export const GENERATORS: Generator[] = [
  {
    name: 'openapi-typescript',
    language: 'typescript',
    needs: ['typescript'],
    generate: () => run(inNpm('openapi-typescript'), [DOCUMENT, '-o', join(BUILT, 'typescript/schema.ts')]),
    compile: () => run(inNpm('tsc'), ['-p', TYPES]),
    flow: environment => run(process.execPath, [join(TYPES, 'flow.ts')], HERE, environment),
  },
  {
    name: 'oapi-codegen',
    language: 'go',
    needs: ['go'],
    generate: async () => {
      await run('mkdir', ['-p', join(GO, 'parley')]);
      const args = ['-generate', 'types,client', '-package', 'parley', '-o', join(GO, 'parley/parley.go'), DOCUMENT];
      return run('go', ['run', OAPI_CODEGEN, ...args], BUILT);
    },
    compile: () => run('go', ['build', '-o', join(BUILT, 'flow'), '.'], GO),
    flow: environment => run(join(BUILT, 'flow'), [], GO, environment),
  },
  {
    name: 'openapi-python-client',
    language: 'python',
    needs: ['python'],
    generate: () => {
      const output = join(PYTHON, 'generated/parley_client');
      const options = ['--config', join(PYTHON, 'config.yaml'), '--meta', 'none', '--overwrite', '--fail-on-warning'];
      return run(inVenv('openapi-python-client'), [
        'generate',
        '--path',
        DOCUMENT,
        '--output-path',
        output,
        ...options,
      ]);
    },
    compile: () => importAll(join(PYTHON, 'generated'), 'parley_client'),
    flow: environment => run(inVenv('python'), [join(PYTHON, 'flow.py')], PYTHON, environment),
  },
  {
    name: 'openapi-generator python',
    language: 'python',
    needs: ['java', 'python'],
    generate: () => openApiGenerator('python'),
    compile: () => importAll(folderOf('python'), 'openapi_client'),
    flow: environment =>
      run(inVenv('python'), [join(PYTHON, 'flow_of_openapi_generator.py')], folderOf('python'), environment),
  },
  {
    name: 'openapi-generator go',
    language: 'go',
    needs: ['java', 'go'],
    generate: () => openApiGenerator('go', OPEN),
    compile: async () => {
      rmSync(join(folderOf('go'), 'test'), { recursive: true, force: true }); // needs packages that the client does not
      await run('go', ['mod', 'tidy'], folderOf('go'));
      await run('go', ['build', './...'], folderOf('go'));
      return run('go', ['build', '-o', join(BUILT, 'flow-of-openapi-generator'), '.'], GO_OF_OPENAPI_GENERATOR);
    },
    flow: environment => run(join(BUILT, 'flow-of-openapi-generator'), [], GO_OF_OPENAPI_GENERATOR, environment),
  },
  {
    name: 'openapi-generator typescript-fetch',
    language: 'typescript',
    needs: ['java'],
    generate: () => openApiGenerator('typescript-fetch', OPEN),
    compile: async () => {
      const folder = folderOf('typescript-fetch');
      await cp(join(TYPES, 'fetch-flow.ts'), join(folder, 'flow.ts'));
      await mkdir(join(folder, 'js'), { recursive: true });
      await writeFile(join(folder, 'js/package.json'), '{ "type": "commonjs" }');
      const options = ['--strict', '--target', 'es2022', '--lib', 'es2022,dom', '--types', 'node', '--outDir', 'js'];
      return run(inNpm('tsc'), [...options, '--module', 'commonjs', '--moduleResolution', 'node10', 'flow.ts'], folder);
    },
    flow: environment => run(process.execPath, ['js/flow.js'], folderOf('typescript-fetch'), environment),
  },
  {
    name: 'openapi-generator java',
    language: 'java',
    needs: ['java', 'maven'],
    generate: () => generateAsGuided('java', 'Java'),
    compile: async () => {
      await cp(join(HERE, 'java/Flow.java'), join(folderOf('java'), 'client/src/main/java/Flow.java'));
      return run('mvn', ['-q', '-B', 'compile'], join(folderOf('java'), 'client'));
    },
    flow: environment =>
      run('mvn', ['-q', '-B', EXEC_JAVA, '-Dexec.mainClass=Flow'], join(folderOf('java'), 'client'), environment),
  },
  {
    name: 'openapi-generator kotlin',
    language: 'kotlin',
    needs: ['java', 'maven'],
    generate: () => generateAsGuided('kotlin', 'Kotlin'),
    compile: async () => {
      await cp(join(HERE, 'kotlin/Flow.kt'), join(folderOf('kotlin'), 'src/main/kotlin/Flow.kt'));
      return run('mvn', ['-q', '-B', 'compile'], folderOf('kotlin'));
    },
    flow: environment =>
      run('mvn', ['-q', '-B', EXEC_JAVA, '-Dexec.mainClass=FlowKt'], folderOf('kotlin'), environment),
  },
  {
    name: 'openapi-generator rust',
    language: 'rust',
    needs: ['java', 'rust'],
    generate: () => generateAsGuided('rust', 'Rust'),
    compile: async () => {
      await cp(join(HERE, 'rust/main.rs'), join(folderOf('rust'), 'src/main.rs'));
      await run('cargo', ['add', '--quiet', ...FOR_MIDDLEWARE], folderOf('rust'));
      return run('cargo', ['build', '--quiet'], folderOf('rust'));
    },
    flow: environment => run(join(folderOf('rust'), 'target/debug/feedback'), [], folderOf('rust'), environment),
  },
  {
    name: 'openapi-generator csharp',
    language: 'csharp',
    needs: ['java', 'mono'],
    generate: () => generateAsGuided('csharp', 'C#', FOR_MONO),
    compile: async () => {
      await cp(NEWTONSOFT, join(folderOf('csharp'), 'Newtonsoft.Json.dll'));
      return run('mcs', MCS_OPTIONS, folderOf('csharp'));
    },
    flow: environment => run('mono', ['Flow.exe'], folderOf('csharp'), environment),
  },
];
