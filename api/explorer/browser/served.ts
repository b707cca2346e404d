const told = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content;

/** What the document says of what it is served from. */
export const PROGRAM_ID = told('program') ?? '';
export const IS_LOCAL_CHAIN = told('chain') === 'local';
