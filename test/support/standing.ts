import type { ReportedHookContext, Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';

const TELL_MS = 60_000;

/**
 * Says on stderr, each minute, which files, tests and hooks have been under way for longer than that: other reporters
 * name a file when it ends, and one that stands does not. It is in the runner's own process, so that the file whose
 * thread is blocked is named, too; it decides of nothing.
 */
export class Standing implements Reporter {
  #begun = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  onTestRunStart(): void {
    this.#timer = setInterval(() => this.#tell(), TELL_MS).unref();
  }
  onTestRunEnd(): void {
    clearInterval(this.#timer);
  }
  onTestModuleQueued(module: TestModule): void {
    this.#begin(fileOf(module));
  }
  onTestModuleEnd(module: TestModule): void {
    this.#begun.delete(fileOf(module));
  }
  onTestCaseReady(test: TestCase): void {
    this.#begin(nameOf(test));
  }
  onTestCaseResult(test: TestCase): void {
    this.#begun.delete(nameOf(test));
  }
  onHookStart(hook: ReportedHookContext): void {
    this.#begin(hookOf(hook));
  }
  onHookEnd(hook: ReportedHookContext): void {
    this.#begun.delete(hookOf(hook));
  }

  #begin(what: string): void {
    this.#begun.set(what, performance.now());
  }
  #tell(): void {
    for (const [what, begun] of this.#begun) {
      const ran = performance.now() - begun;
      if (ran > TELL_MS) process.stderr.write(`${Math.round(ran / 1_000)} s under way: ${what}\n`);
    }
  }
}

const fileOf = (module: TestModule): string => module.relativeModuleId;
const nameOf = (one: TestCase | TestSuite): string => `${fileOf(one.module)} > ${one.fullName}`;
const hookOf = ({ name, entity }: ReportedHookContext): string =>
  `${name} of ${entity.type === 'module' ? fileOf(entity) : nameOf(entity)}`;
