import { useState } from 'preact/hooks';
import { html } from '../html.ts';
import { shortKey } from '../text/words.ts';

const SHOWN_MS = 1_500;

/** A public key or signature, shortened; a press copies all of it. */
export function Key({ value, name }: { value: string; name: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () => {
    navigator.clipboard?.writeText(value).then(
      () => {
        setCopied(true);
        setTimeout(() => setCopied(false), SHOWN_MS);
      },
      () => undefined,
    );
  };
  return html`<button type="button" class="key" title=${value} onClick=${copy}>
    <span class="for-readers">${name}, copy </span>${copied ? 'copied' : shortKey(value)}
  </button>`;
}
