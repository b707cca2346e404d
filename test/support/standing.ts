import type { ReportedHookContext, Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';

const TELL_MS = 60_000;

interface UnderWay {
  name: string;
  begun: number;
}

/**
 * Reports on stderr each minute which files, tests and hooks have been under way for longer than a minute: other
 * reporters name a file when it ends, which one that stands never does. It runs in the runner's own process, so a file
 * whose thread is blocked is named too, and so is one whose process has died, until the run ends. It affects no result.
 */
export class Standing implements Reporter {
  /** What is under way, by file and unique id. A hook that throws reports no end: it is dropped with its file. */
  #files = new Map<string, Map<string, UnderWay>>();
  #timer: NodeJS.Timeout | undefined;

  onTestRunStart(): void {
    this.#timer = setInterval(() => this.#tell(), TELL_MS).unref();
  }
  onTestRunEnd(): void {
    clearInterval(this.#timer);
  }
  onTestModuleQueued(module: TestModule): void {
    this.#files.set(module.id, new Map());
    this.#begin(module, module.id, fileOf(module));
  }
  onTestModuleEnd(module: TestModule): void {
    this.#files.delete(module.id);
  }
  onTestCaseReady(test: TestCase): void {
    this.#begin(test.module, test.id, nameOf(test));
  }
  onTestCaseResult(test: TestCase): void {
    this.#files.get(test.module.id)?.delete(test.id);
  }
  onHookStart({ name, entity }: ReportedHookContext): void {
    const of = entity.type === 'module' ? fileOf(entity) : nameOf(entity);
    this.#begin(moduleOf(entity), `${name} ${entity.id}`, `${name} of ${of}`);
  }
  onHookEnd({ name, entity }: ReportedHookContext): void {
    this.#files.get(moduleOf(entity).id)?.delete(`${name} ${entity.id}`);
  }

  #begin(module: TestModule, id: string, name: string): void {
    this.#files.get(module.id)?.set(id, { name, begun: performance.now() });
  }
  #tell(): void {
    for (const file of this.#files.values())
      for (const { name, begun } of file.values()) {
        const ran = performance.now() - begun;
        if (ran > TELL_MS) process.stderr.write(`${Math.round(ran / 1_000)} s under way: ${name}\n`);
      }
  }
}

const moduleOf = (entity: ReportedHookContext['entity']): TestModule =>
  entity.type === 'module' ? entity : entity.module;
const fileOf = (module: TestModule): string => module.relativeModuleId;
const nameOf = (one: TestCase | TestSuite): string => `${fileOf(one.module)} > ${one.fullName}`;
