#!/bin/sh
# Signs Sottovoce.app, has Apple check it, and packs it for download. On a Mac, after `make package`:
#
#   packaging/macos/sign.sh "Developer ID Application: NAME (TEAM)" PROFILE
#
# PROFILE is what `xcrun notarytool store-credentials PROFILE` keeps in the key chain.
set -eu

identity=${1:?the name of the signing certificate}
profile=${2:?the key chain profile of notarytool}
here=$(cd "$(dirname "$0")" && pwd)
dist=$here/../../dist
app=$dist/Sottovoce.app

# From the inside out: what is within must be signed before what holds it. Both executables get the entitlements.
find "$app/Contents" -type f \( -name '*.dylib' -o -name '*.so' \) -print0 |
    xargs -0 codesign --force --timestamp --options runtime --sign "$identity"
for framework in "$app"/Contents/Frameworks/PySide6/Qt/lib/*.framework; do
    [ ! -d "$framework" ] || codesign --force --timestamp --options runtime --sign "$identity" "$framework"
done
for executable in sottovoce sottovoce-app; do
    codesign --force --timestamp --options runtime --entitlements "$here/entitlements.plist" \
        --sign "$identity" "$app/Contents/MacOS/$executable"
done
codesign --force --timestamp --options runtime --entitlements "$here/entitlements.plist" --sign "$identity" "$app"
codesign --verify --deep --strict --verbose=2 "$app"

# Apple looks at an archive, but the ticket is stapled to the program itself, which is then packed again.
archive=$dist/Sottovoce.zip
ditto -c -k --keepParent "$app" "$archive"
xcrun notarytool submit "$archive" --keychain-profile "$profile" --wait
xcrun stapler staple "$app"
spctl --assess --type execute --verbose "$app"
rm "$archive"

image=$dist/Sottovoce.dmg
hdiutil create -volname Sottovoce -srcfolder "$app" -ov -format ULFO "$image"
codesign --force --timestamp --sign "$identity" "$image"
xcrun notarytool submit "$image" --keychain-profile "$profile" --wait
xcrun stapler staple "$image"
echo "$image"
