const ESCAPES: Record<string, string> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
  "'": "\\'",
};

/** The text of a bound parameter, in the engine's escaped form. @throws TypeError for a value that cannot be one. */
export function parameterText(value: unknown): string {
  if (value === null) return '\\N';
  if (typeof value === 'string') return value.replace(/[\\\t\n\r\0]/g, (letter) => ESCAPES[letter] as string);
  if (Array.isArray(value)) return `[${value.map(element).join(',')}]`;
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'bigint' || Number.isFinite(value)) return String(value);
  throw new TypeError(`no query parameter: ${typeof value}`);
}

function element(value: unknown): string {
  if (typeof value !== 'string') return parameterText(value);
  return `'${value.replace(/[\\\t\n\r\0']/g, (letter) => ESCAPES[letter] as string)}'`;
}
