import { useState } from 'preact/hooks';
import { html } from '../html.ts';
import { plainText } from '../text/visible.ts';
import { shortKey } from '../text/words.ts';

const SHOWN_MS = 1_500;

/** A public key or signature, shortened; a press copies all of it, or shows it where that is not allowed. */
export function Key({ value, name }: { value: string; name: string }) {
  const [copied, setCopied] = useState(false);
  const [whole, setWhole] = useState(false);
  // A page from another machine over plain HTTP may not copy: then the whole key is shown, to be selected.
  const copy = () => {
    if (navigator.clipboard === undefined) return setWhole(true);
    navigator.clipboard.writeText(value).then(
      () => {
        setCopied(true);
        setTimeout(() => setCopied(false), SHOWN_MS);
      },
      () => setWhole(true),
    );
  };
  if (whole)
    return html`<span class="key whole"><span class="for-readers">${name} </span>${plainText(value)}</span>`;
  return html`<button type="button" class="key" title=${`${value}: a press copies it`} onClick=${copy}>
    <span class="for-readers">${name}, copy </span>${copied ? 'copied' : shortKey(value)}
  </button>`;
}
