const told = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content;

/** What the document's meta elements say of the service that served it. */
export const PROGRAM_ID = told('program') ?? '';
export const IS_LOCAL_CHAIN = told('chain') === 'local';
