/**
 * What people who read no English see of errors, by their codes. Other errors have the
 * text of the server.
 */
export const errorTexts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  en: { unreachable: 'The server cannot be reached.' },
  es: {
    unreachable: 'No se pudo conectar con el servidor.',
    unavailable: 'El servidor no está disponible por ahora. Intente de nuevo en unos segundos.',
    upstream_unavailable:
      'El servidor no está disponible por ahora. Intente de nuevo en unos segundos.',
    upstream_timeout: 'El servidor no respondió a tiempo.',
    internal_error: 'Ocurrió un error en el servidor.',
    rate_limited: 'Demasiadas solicitudes. Espere un momento e intente de nuevo.',
    wrong_credentials: 'El correo electrónico o la contraseña no son correctos.',
    wrong_password: 'La contraseña actual no es correcta.',
    too_many_attempts: 'Demasiados intentos. Espere unos minutos e intente de nuevo.',
    no_organization:
      'Usted no pertenece a ninguna organización. Pida una invitación a un administrador.',
    sign_in_unavailable: 'Por ahora no se puede iniciar sesión. Intente de nuevo en unos segundos.',
    https_required: 'Para iniciar sesión se necesita HTTPS: abra esta dirección con https://.',
    invitation_accepted: 'La invitación ya se aceptó.',
    invitation_not_found: 'La invitación no existe.',
    sign_in_expired:
      'Este inicio de sesión venció o se comenzó en otro navegador. Comience de nuevo.',
    identity_taken: 'Esta identidad pertenece a otra persona.',
    last_admin: 'La organización quedaría sin administrador.',
    invitation_ended:
      'La invitación ya se usó, se revocó o venció, o quien la hizo ya no puede invitar.',
    link_ended: 'El enlace ya se usó o se reemplazó, o venció. Pida otro.',
    missing_email: 'La persona no tiene correo electrónico para iniciar sesión. Escriba uno.',
    secrets_required:
      'Cambió la dirección: escriba de nuevo las claves y los encabezados guardados.',
    requires_admin: 'Esto requiere el rol de administrador.',
    thread_not_found: 'Esta conversación no existe.',
    thread_changed: 'Hay un mensaje más reciente en la conversación.',
    window_closed:
      'Pasaron más de 24 horas desde el último mensaje del contacto: envíe una plantilla.',
    no_sender: 'No hay ningún número de WhatsApp conectado en este entorno.',
    no_message: 'El contacto aún no ha escrito en esta conversación.',
    no_channel: 'Los archivos y las plantillas necesitan un canal, como WhatsApp.',
    file_refused: 'WhatsApp no acepta este archivo.',
    payload_too_large: 'El archivo es demasiado grande.',
    not_failed: 'Este mensaje ya no se puede enviar de nuevo.',
    in_doubt: 'Tal vez el contacto ya recibió este mensaje.',
    from_phone: 'Este mensaje se envió desde el teléfono.',
    turn_running: 'El agente está respondiendo un mensaje de esta conversación.',
    unknown_person: 'Esta persona ya no es miembro de la organización.',
    provider_failed: 'El proveedor no respondió. Intente de nuevo.',
    media_not_ready: 'El archivo aún no está disponible.',
  },
};
