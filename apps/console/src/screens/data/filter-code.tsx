import { useTexts } from '../../i18n';
import { Dialog } from '../../parts/dialog';
import { Json } from '../../parts/json';
import { dataCatalog } from './texts';

/** A word of a shell: quotes inside are closed, escaped and opened. */
const shell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** What the list asks for, as requests of programs. */
export function FilterCode({
  type,
  query,
  onClose,
}: {
  type: string;
  query: object;
  onClose: () => void;
}) {
  const texts = useTexts(dataCatalog);
  const curl = [
    `curl -s ${shell(`${location.origin}/v1/data/${encodeURIComponent(type)}/query`)} \\`,
    `  -H "Authorization: Bearer $PARLEY_API_KEY" -H 'Content-Type: application/json' \\`,
    `  -d ${shell(JSON.stringify(query))}`,
  ].join('\n');
  return (
    <Dialog title={texts.asCode} onClose={onClose} wide>
      <div className="space-y-4">
        <Json label={texts.json} value={query} />
        <Json label="curl" value={curl} />
        <Json
          label="TypeScript"
          value={`await client.data.query(${JSON.stringify(type)}, ${JSON.stringify(query, null, 2)});`}
        />
      </div>
    </Dialog>
  );
}
