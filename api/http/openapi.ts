import type { TSchema } from 'typebox';
import { InternalError } from '../../schemas/responses/parts.ts';
import { type Route, supportsEtag } from './route.ts';

type Json = Record<string, unknown>;

const ABOUT =
  'State of the token policies that one program on Solana holds. A number is served as a figure: its value, its source ' +
  'and the time of that source (`asOf`); a figure that cannot be determined has the value null and a reason. Amounts of ' +
  'tokens are integers in base units, as decimal strings. Times are UTC, `YYYY-MM-DDThh:mm:ss.mmmZ`.';

/** The OpenAPI page of a table of routes. Schemas with an `$id` are named once and referred to. */
export function openApi(service: string, routes: readonly Route[]): Json {
  const named: Record<string, unknown> = {};
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, named) };
  }
  return {
    openapi: '3.1.0',
    info: { title: service, version: 'unversioned', description: ABOUT },
    paths,
    components: {
      schemas: named,
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function operation(route: Route, named: Json): Json {
  const content = (schema: TSchema) => ({ 'application/json': { schema: hoisted(schema, named) } });
  const media = (status: string, schema: TSchema) =>
    status === '200' && route.mediaType !== undefined
      ? { [route.mediaType]: { schema: hoisted(schema, named) } }
      : content(schema);
  const responses = Object.entries({ ...route.responses, 500: InternalError }).map(([status, schema]) => [
    status,
    { description: DESCRIPTIONS[status] ?? 'Refused; nothing is stored.', content: media(status, schema) },
  ]);
  return {
    summary: route.summary,
    ...(route.bearer === true ? { security: [{ bearer: [] }] } : {}),
    parameters: [
      ...pathParameters(route),
      ...parameters('query', route.query, named),
      ...parameters('header', route.headers, named),
    ],
    ...(route.body === undefined ? {} : { requestBody: { required: true, content: content(route.body) } }),
    responses: {
      ...Object.fromEntries(responses),
      ...(supportsEtag(route)
        ? { 304: { description: 'Not modified: the answer still has the ETag given in If-None-Match.' } }
        : {}),
    },
  };
}

const DESCRIPTIONS: Record<string, string> = {
  200: 'Success.',
  201: 'Stored.',
  400: 'A parameter or the body is invalid; nothing is stored.',
  401: 'The session token is missing, unknown or expired, or the signature is wrong; nothing is stored.',
  403: 'Not allowed; nothing is stored.',
  404: 'Not found: the answer names what.',
  409: 'In conflict with what is stored; nothing is stored.',
  413: 'The body is too large; nothing is stored.',
  422: 'What the request states does not hold on the chain or at the venue; nothing is stored.',
  429: 'Too many requests: Retry-After says for how many seconds to wait; nothing is stored.',
  500: 'A store does not answer, or a defect; `detail` says which failure.',
  503: 'A store or provider that it depends on does not answer, or too many requests are waiting: see Retry-After.',
};

function pathParameters(route: Route): Json[] {
  return [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function parameters(place: 'query' | 'header', all: TSchema | undefined, named: Json): Json[] {
  const { required = [] } = (all ?? {}) as { required?: string[] };
  return Object.entries(propertiesOf(all)).map(([name, schema]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: hoisted(schema, named),
  }));
}

/** The query parameters a route knows, by name. */
export const queryProperties = (route: Route): Record<string, TSchema> => propertiesOf(route.query);

function propertiesOf(all: TSchema | undefined): Record<string, TSchema> {
  const { properties } = (all ?? {}) as { properties?: Record<string, TSchema> };
  return properties ?? {};
}

/** A copy of the schema in which everything with an `$id` stands under that name in `named`. */
function hoisted(schema: unknown, named: Json): unknown {
  if (Array.isArray(schema)) return schema.map((item) => hoisted(item, named));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $id, ...rest } = readable(schema as Json);
  const copy = () =>
    Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, hoisted(value, named)]));
  if (typeof $id !== 'string') return copy();
  named[$id] ??= copy();
  return { $ref: `#/components/schemas/${$id}` };
}

/**
 * The same schema as generators of clients read it: of alternatives that are one literal each, some make code that
 * takes the first alone, and of a literal `true` code that does not take it.
 */
function readable(schema: Json): Json {
  const { anyOf, const: only, ...rest } = schema;
  if (typeof only === 'boolean') return rest;
  const words = Array.isArray(anyOf) ? anyOf.map((one: Json) => one.const) : [];
  const isClosed = words.length > 0 && words.every((word) => typeof word === 'string');
  return isClosed ? { ...rest, type: 'string', enum: words } : schema;
}
