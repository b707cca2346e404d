import { readdirSync } from 'node:fs';
import path from 'node:path';

/** How the engine names a part that it could not read when it opened, and silently leaves out. */
const BROKEN = 'broken-on-start';

/** The parts of an engine's directory that it has left out so far. */
export function brokenParts(directory: string): Set<string> {
  const store = path.join(directory, 'store');
  const tables = namesIn(store).flatMap((one) =>
    namesIn(path.join(store, one)).map((id) => path.join(one, id)),
  );
  return new Set(
    tables.flatMap((table) =>
      namesIn(path.join(store, table, 'detached'))
        .filter((name) => name.startsWith(BROKEN))
        .map((name) => path.join(table, name)),
    ),
  );
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
