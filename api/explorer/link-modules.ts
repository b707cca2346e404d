import { createHash } from 'node:crypto';

/** A file as it is served: its name holds a hash of its bytes, so that it never changes under that name. */
export interface Asset {
  fileName: string;
  type: string;
  bytes: Buffer;
}

export interface LinkedModule extends Asset {
  /** File names of this module and of all that it imports statically; not of what `import()` loads later. */
  needs: ReadonlySet<string>;
}

const SCRIPT = 'text/javascript; charset=utf-8';

/** `from 'x'`, `import 'x'` and `import('x')`; the libraries come minified. */
const IMPORT = /(\bfrom\s*|\bimport\s*\(\s*|\bimport\s+|\bimport(?=["']))(["'])([^"'\n]+)\2/g;

/** A name with a hash of the bytes before its ending. */
export function hashedName(name: string, bytes: Buffer, ending: string): string {
  return `${name}.${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}.${ending}`;
}

/**
 * Gives every module its hashed name and rewrites its imports to the hashed names of the others: what a browser has
 * cached always fits together, and no import map is needed, which would have to be inline.
 * @param modules JavaScript by key.
 * @param resolve the key of the module that a specifier means inside another; null where there is none.
 * @throws Error where an import cannot be resolved, or modules import each other in a circle.
 */
export function linkModules(
  modules: ReadonlyMap<string, string>,
  resolve: (specifier: string, from: string) => string | null,
): Map<string, LinkedModule> {
  const linked = new Map<string, LinkedModule>();
  const open = new Set<string>();

  const link = (key: string): LinkedModule => {
    const done = linked.get(key);
    if (done !== undefined) return done;
    if (open.has(key)) throw new Error(`the browser module ${key} imports itself by way of others`);
    open.add(key);
    const needs = new Set<string>();
    const text = (modules.get(key) as string).replace(
      IMPORT,
      (_, before: string, quote: string, name: string) => {
        const target = resolve(name, key);
        if (target === null || !modules.has(target))
          throw new Error(`the browser module ${key} imports ${name}, which is not served`);
        const other = link(target);
        if (!before.includes('(')) for (const need of other.needs) needs.add(need);
        return `${before}${quote}./${other.fileName}${quote}`;
      },
    );
    const bytes = Buffer.from(text);
    const fileName = hashedName(key.replaceAll(/[^\w-]+/g, '-'), bytes, 'js');
    const module = { fileName, type: SCRIPT, bytes, needs: needs.add(fileName) };
    linked.set(key, module);
    open.delete(key);
    return module;
  };
  for (const key of modules.keys()) link(key);
  return linked;
}
