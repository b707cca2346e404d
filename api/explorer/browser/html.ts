import htm from 'htm';
import { type ComponentChildren, h, type VNode } from 'preact';

/** Markup in templates: values become text or attributes, never markup. */
export const html = htm.bind(h) as unknown as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;

export type Children = ComponentChildren;
