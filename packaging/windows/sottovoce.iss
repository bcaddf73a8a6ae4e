; Installs dist\sottovoce for one user, without an administrator. On Windows, after `python packaging\build.py`:
;   iscc /DVersion=0.1.0 packaging\windows\sottovoce.iss

#ifndef Version
  #error Version is missing: iscc /DVersion=0.1.0 sottovoce.iss
#endif

[Setup]
AppId={{6B5A0B5E-8C1F-4B0E-9C56-3F1D7B6C2A41}
AppName=Sottovoce
AppVersion={#Version}
AppPublisher=The Sottovoce developers
DefaultDirName={autopf}\Sottovoce
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
OutputDir=..\..\dist
OutputBaseFilename=sottovoce-{#Version}-windows-x86_64
SetupIconFile=..\..\build\package\sottovoce.ico
UninstallDisplayIcon={app}\sottovoce-app.exe
LicenseFile=..\..\NOTICES.md
Compression=lzma2/max
SolidCompression=yes
ChangesAssociations=yes
; A running program would hold its files: it is asked to close first.
CloseApplications=yes

[Tasks]
Name: desktopicon; Description: "Put an icon on the desktop"; Flags: unchecked

[InstallDelete]
; What an older version brought and this one does not.
Type: filesandordirs; Name: "{app}\_internal"

[Files]
Source: "..\..\dist\sottovoce\*"; DestDir: "{app}"; Flags: recursesubdirs createallsubdirs ignoreversion

[Icons]
Name: "{autoprograms}\Sottovoce"; Filename: "{app}\sottovoce-app.exe"; AppUserModelID: "io.sottovoce.Sottovoce"
Name: "{autodesktop}\Sottovoce"; Filename: "{app}\sottovoce-app.exe"; Tasks: desktopicon

[Registry]
; "Open with" lists it for recordings and videos; what opens them today stays as it is.
Root: HKA; Subkey: "Software\Classes\Applications\sottovoce-app.exe"; ValueType: string; ValueName: "FriendlyAppName"; ValueData: "Sottovoce"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\Applications\sottovoce-app.exe\shell\open\command"; ValueType: string; ValueData: """{app}\sottovoce-app.exe"" ""%1"""
Root: HKA; Subkey: "Software\Classes\Sottovoce.Recording"; ValueType: string; ValueData: "Recording"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\Sottovoce.Recording\shell\open\command"; ValueType: string; ValueData: """{app}\sottovoce-app.exe"" ""%1"""
#define Associate(Suffix) "Root: HKA; Subkey: ""Software\Classes\." + Suffix + "\OpenWithProgids""; ValueType: string; ValueName: ""Sottovoce.Recording""; ValueData: """"; Flags: uninsdeletevalue"
#emit Associate("aac")
#emit Associate("avi")
#emit Associate("flac")
#emit Associate("m4a")
#emit Associate("mkv")
#emit Associate("mov")
#emit Associate("mp3")
#emit Associate("mp4")
#emit Associate("ogg")
#emit Associate("opus")
#emit Associate("wav")
#emit Associate("webm")
#emit Associate("wma")

[Run]
Filename: "{app}\sottovoce-app.exe"; Description: "Open Sottovoce"; Flags: nowait postinstall skipifsilent
