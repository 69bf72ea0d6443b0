import { Camera, FileText, type LucideIcon, Paperclip, X } from 'lucide-react';
import { type InputHTMLAttributes, useEffect, useRef, useState } from 'react';
import { formatBytes, useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { composerCatalog } from './composer-texts';
import { useObjectUrl } from './media';
import { type Attachment, maxPictureBytes } from './use-attachment';

/** What will be sent, before it is. */
export function AttachmentPreview({
  attachment,
  onRemove,
}: {
  attachment: Attachment;
  onRemove: () => void;
}) {
  const composer = useTexts(composerCatalog);
  const { file } = attachment;
  const url = useObjectUrl(file);
  const isPicture = /^image\/(jpeg|png|gif|webp)$/.test(file.type);
  return (
    <div className="mb-2 flex items-center gap-2 rounded bg-n3 p-2">
      {isPicture && url !== null ? (
        <img src={url} alt={composer.preview(file.name)} className="max-h-24 max-w-32 rounded" />
      ) : file.type.startsWith('audio/') && url !== null ? (
        <audio
          controls
          src={url}
          aria-label={composer.preview(file.name)}
          className="h-11 min-w-0 flex-1"
        />
      ) : (
        <FileText aria-hidden size={24} className="shrink-0 text-n10" />
      )}
      <div className="min-w-0 flex-1">
        <p className="truncate">{file.name}</p>
        <p className="text-xs text-n11">{formatBytes(file.size)}</p>
        {isPicture && file.size > maxPictureBytes && (
          <p className="text-xs text-n11">{composer.asDocument(formatBytes(maxPictureBytes))}</p>
        )}
      </div>
      <Button look="quiet" icon={X} label={composer.removeFile} onClick={onRemove} />
    </div>
  );
}

/** Buttons that choose a file; on phones also one that opens the camera. */
export function AttachButtons({ onFiles }: { onFiles: (files: FileList | null) => void }) {
  const composer = useTexts(composerCatalog);
  return (
    <>
      <FileButton icon={Paperclip} label={composer.attach} onFiles={onFiles} />
      <span className="hidden [@media(pointer:coarse)]:inline-flex">
        <FileButton
          icon={Camera}
          label={composer.camera}
          onFiles={onFiles}
          accept="image/*"
          capture="environment"
        />
      </span>
    </>
  );
}

function FileButton({
  icon,
  label,
  onFiles,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & {
  icon: LucideIcon;
  label: string;
  onFiles: (files: FileList | null) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button look="quiet" icon={icon} label={label} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        hidden
        aria-label={label}
        onChange={({ target }) => {
          onFiles(target.files);
          // The same file can be chosen again.
          target.value = '';
        }}
        {...rest}
      />
    </>
  );
}

/**
 * Whether a file is dragged over the page, where a drop anywhere attaches it: the browser would
 * leave the page otherwise.
 */
export function useDroppedFiles(isEnabled: boolean, onFiles: (files: FileList) => void): boolean {
  const [isOver, setOver] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
  useEffect(() => {
    if (!isEnabled) return;
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files');
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      take.current(event.dataTransfer!.files);
    };
    window.addEventListener('dragover', over);
    window.addEventListener('dragleave', leave);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragover', over);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('drop', drop);
    };
  }, [isEnabled]);
  return isOver;
}
