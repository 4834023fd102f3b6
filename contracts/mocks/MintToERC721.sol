// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721URIStorage} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721URIStorage.sol";

/// @title MintToERC721
/// @notice Rights and mint of thirdweb's TokenERC721, for tests of mints into adopted contracts: its owner is shown and
/// decides nothing, one role administers itself, and each token has a URI.
contract MintToERC721 is ERC721URIStorage, AccessControl {
    bytes32 public constant MINTER_ROLE = keccak256("MINTER_ROLE");
    bytes32 public constant METADATA_ROLE = keccak256("METADATA_ROLE");
    address private immutable _shown;
    uint256 private _next = 0;

    error NoURI();

    constructor(address admin) ERC721("Mint to", "TO") {
        _shown = admin;
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
        _grantRole(METADATA_ROLE, admin);
        _setRoleAdmin(METADATA_ROLE, METADATA_ROLE);
    }

    function mintTo(address to, string calldata uri) external onlyRole(MINTER_ROLE) returns (uint256 id) {
        if (bytes(uri).length == 0) revert NoURI();
        id = _next;
        ++_next;
        _setTokenURI(id, uri);
        _safeMint(to, id);
    }

    function owner() external view returns (address) {
        return hasRole(DEFAULT_ADMIN_ROLE, _shown) ? _shown : address(0);
    }

    function supportsInterface(bytes4 id) public view override(ERC721URIStorage, AccessControl) returns (bool) {
        return super.supportsInterface(id);
    }
}
