/** The statements of a migration file: split at semicolons that stand in no string, comments of whole lines dropped. */
export function statementsOf(sql: string): string[] {
  const code = sql.replace(/^\s*--.*$/gm, '');
  const statements: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < code.length; at += 1) {
    if (quoted && code[at] === '\\') at += 1;
    else if (code[at] === "'") quoted = !quoted;
    else if (code[at] === ';' && !quoted) {
      statements.push(code.slice(start, at).trim());
      start = at + 1;
    }
  }
  statements.push(code.slice(start).trim());
  return statements.filter((statement) => statement !== '');
}
